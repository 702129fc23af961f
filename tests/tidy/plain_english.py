"""The words of rule 2, "write plain English", for documents and comments alike."""

import re

BAD_BEGINNING = r"(Of|What|Whoever|Whom|Whose|The same|As)\b(?! [^.!?]*\?)"  # a question may begin with What
BAD_PHRASES = re.compile(r"\b(so many|anew|in vain|it is told|can not|who is there|whom it is)\b", re.IGNORECASE)
ADVICE = "subject, verb, object"
