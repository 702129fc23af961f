"""A mail relay on loopback: prints its port, then one JSON line for every letter that it takes.

    small_relay.py REFUSALS PORT    refuses that many letters first, as a busy relay does
"""
import email
import email.policy
import json
import sys

from aiosmtpd.controller import Controller


class Keeper:
    def __init__(self, refusals):
        self.refusals = refusals

    async def handle_DATA(self, server, session, envelope):
        if self.refusals > 0:
            self.refusals -= 1
            return "451 Please come back later"
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        body = letter.get_body(preferencelist=("plain",))
        print(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": letter["Subject"],
                          "header_to": letter["To"], "text": body.get_content()}), flush=True)
        return "250 Taken"


controller = Controller(Keeper(int(sys.argv[1])), hostname="127.0.0.1", port=int(sys.argv[2]))
controller.start()
print(controller.port, flush=True)
sys.stdin.read()
controller.stop()
