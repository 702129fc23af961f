<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>Rules</name>
    <message numerus="yes">
        <source>Goes on when nobody has used it for %n minute(s).</source>
        <translation>
            <numerusform>Goes on when nobody has used it for %n minute.</numerusform>
            <numerusform>Goes on when nobody has used it for %n minutes.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Situation</name>
    <message numerus="yes">
        <source>It uses up to %n processor thread(s) that nothing else needs.</source>
        <translation>
            <numerusform>It uses up to %n processor thread that nothing else needs.</numerusform>
            <numerusform>It uses up to %n processor threads that nothing else needs.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>it was wrong %n time(s)</source>
        <translation>
            <numerusform>it was wrong %n time</numerusform>
            <numerusform>it was wrong %n times</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Others have checked its work %n time(s): %1.</source>
        <translation>
            <numerusform>Others have checked its work %n time: %1.</numerusform>
            <numerusform>Others have checked its work %n times: %1.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::HomePage</name>
    <message numerus="yes">
        <source>%1 credit in %n round(s) since midnight</source>
        <translation>
            <numerusform>%1 credit in %n round since midnight</numerusform>
            <numerusform>%1 credit in %n rounds since midnight</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::LinkPage</name>
    <message numerus="yes">
        <source>%n volunteer(s) so far</source>
        <translation>
            <numerusform>%n volunteer so far</numerusform>
            <numerusform>%n volunteers so far</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s) in it now</source>
        <translation>
            <numerusform>%n computer in it now</numerusform>
            <numerusform>%n computers in it now</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::NetworkPage</name>
    <message numerus="yes">
        <source>For %n computer(s) that nobody can call</source>
        <translation>
            <numerusform>For %n computer that nobody can call</numerusform>
            <numerusform>For %n computers that nobody can call</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::Plot</name>
    <message numerus="yes">
        <source>%n value(s), from %1 to %2, the last %3</source>
        <translation>
            <numerusform>%n value, from %1 to %2, the last %3</numerusform>
            <numerusform>%n values, from %1 to %2, the last %3</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::RunPage</name>
    <message numerus="yes">
        <source>%n round(s) lost</source>
        <translation>
            <numerusform>%n round lost</numerusform>
            <numerusform>%n rounds lost</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::TeamBox</name>
    <message numerus="yes">
        <source>&lt;b&gt;%1&lt;/b&gt;, founded by %2: %n member(s), %3 credit</source>
        <translation>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;, founded by %2: %n member, %3 credit</numerusform>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;, founded by %2: %n members, %3 credit</numerusform>
        </translation>
    </message>
</context>
</TS>
