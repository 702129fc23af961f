<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ru" sourcelanguage="en">
<context>
    <name>Daemon</name>
    <message>
        <source>Done</source>
        <translation>Готово</translation>
    </message>
    <message>
        <source>Alone: nothing to average with.</source>
        <translation>Компьютер один: усреднять не с кем.</translation>
    </message>
    <message>
        <source>Nobody&apos;s line has been measured yet.</source>
        <translation>Ничья линия ещё не измерена.</translation>
    </message>
    <message>
        <source>All lines are used: the averaging takes %1 s.</source>
        <translation>Используются все линии: усреднение занимает %1 с.</translation>
    </message>
    <message>
        <source>The upload of %1, %2 Mbit/s, bounds the averaging at %3 s.</source>
        <translation>Усреднение занимает %3 с: столько требует отправка у %1, %2 Мбит/с.</translation>
    </message>
    <message>
        <source>The download of %1, %2 Mbit/s, bounds the averaging at %3 s.</source>
        <translation>Усреднение занимает %3 с: столько требует приём у %1, %2 Мбит/с.</translation>
    </message>
    <message>
        <source>the coordinator cannot be reached</source>
        <translation>координатор недоступен</translation>
    </message>
    <message>
        <source>the coordinator answers</source>
        <translation>координатор ответит</translation>
    </message>
    <message>
        <source>downloading the model from other volunteers</source>
        <translation>загружается модель от других участников</translation>
    </message>
    <message>
        <source>the download is complete</source>
        <translation>загрузка завершится</translation>
    </message>
    <message>
        <source>the run has not been started</source>
        <translation>обучение ещё не запущено</translation>
    </message>
    <message>
        <source>the operator starts it</source>
        <translation>организатор его запустит</translation>
    </message>
    <message>
        <source>the operator paused the run</source>
        <translation>организатор приостановил обучение</translation>
    </message>
    <message>
        <source>the operator starts it again</source>
        <translation>организатор запустит его снова</translation>
    </message>
    <message>
        <source>the run is complete</source>
        <translation>обучение завершено</translation>
    </message>
    <message>
        <source>there is a new run</source>
        <translation>появится новое обучение</translation>
    </message>
    <message>
        <source>the coordinator names a donor</source>
        <translation>координатор назовёт, от кого взять модель</translation>
    </message>
    <message>
        <source>waiting for a member that can hand over the model</source>
        <translation>ожидается участник, который передаст модель</translation>
    </message>
    <message>
        <source>the group went on without this computer</source>
        <translation>группа продолжила без этого компьютера</translation>
    </message>
    <message>
        <source>what was computed here cannot be averaged</source>
        <translation>вычисленное здесь нельзя усреднить</translation>
    </message>
    <message>
        <source>the trainer failed</source>
        <translation>сбой вычислений</translation>
    </message>
    <message>
        <source>the next try, in a moment</source>
        <translation>следующая попытка, вот-вот</translation>
    </message>
    <message>
        <source>waiting for training data</source>
        <translation>ожидаются данные для обучения</translation>
    </message>
    <message>
        <source>it has come</source>
        <translation>они придут</translation>
    </message>
    <message>
        <source>preparing the run</source>
        <translation>подготовка к обучению</translation>
    </message>
    <message>
        <source>asking the coordinator for the run</source>
        <translation>координатор спрошен об обучении</translation>
    </message>
    <message>
        <source>downloading the training data</source>
        <translation>загружаются данные для обучения</translation>
    </message>
    <message>
        <source>downloading the validation data</source>
        <translation>загружаются данные для проверки</translation>
    </message>
    <message>
        <source>the model and its data are here</source>
        <translation>модель и данные будут здесь</translation>
    </message>
    <message>
        <source>leaving the project</source>
        <translation>выход из проекта</translation>
    </message>
    <message>
        <source>this run needs more memory than this computer has</source>
        <translation>этой задаче нужно больше памяти, чем есть в этом компьютере</translation>
    </message>
    <message>
        <source>the project trains a smaller model</source>
        <translation>проект обучает модель поменьше</translation>
    </message>
    <message>
        <source>this run needs more memory than you allow</source>
        <translation>этой задаче нужно больше памяти, чем вы разрешаете</translation>
    </message>
    <message>
        <source>you allow more memory</source>
        <translation>вы разрешите больше памяти</translation>
    </message>
    <message>
        <source>this run&apos;s model is a program of the project&apos;s own, which runs here only if you agree</source>
        <translation>модель этой задачи — программа самого проекта; здесь она запускается, только если вы согласны</translation>
    </message>
    <message>
        <source>you allow it</source>
        <translation>вы её разрешите</translation>
    </message>
    <message>
        <source>the coordinator says</source>
        <translation>координатор сообщает</translation>
    </message>
    <message>
        <source>%1 of %2 MB</source>
        <translation>%1 из %2 МБ</translation>
    </message>
    <message>
        <source>the model here differs from everybody else&apos;s</source>
        <translation>модель здесь отличается от модели остальных</translation>
    </message>
    <message>
        <source>changing over to another project</source>
        <translation>переход к другому проекту</translation>
    </message>
    <message>
        <source>what it left is put away</source>
        <translation>всё прежнее будет убрано</translation>
    </message>
    <message>
        <source>What was asked for cannot be done like this.</source>
        <translation>Так сделать нельзя.</translation>
    </message>
    <message>
        <source>There is no such thing.</source>
        <translation>Такого нет.</translation>
    </message>
    <message>
        <source>It is there already.</source>
        <translation>Это уже есть.</translation>
    </message>
    <message>
        <source>It is not allowed. An invite may be used up or out of date.</source>
        <translation>Это не разрешено. Возможно, приглашение уже использовано или устарело.</translation>
    </message>
    <message>
        <source>It is not possible just now.</source>
        <translation>Сейчас это невозможно.</translation>
    </message>
    <message>
        <source>A limit was reached: disk, memory, or how often one may try.</source>
        <translation>Достигнут предел: диск, память или число попыток.</translation>
    </message>
    <message>
        <source>It cannot be reached. Check the network, and try again later.</source>
        <translation>Нет связи. Проверьте сеть и попробуйте позже.</translation>
    </message>
    <message>
        <source>This version of Starling cannot do that. Update it.</source>
        <translation>Эта версия Starling так не умеет. Обновите её.</translation>
    </message>
    <message>
        <source>Something went wrong. The log says more.</source>
        <translation>Что-то пошло не так. Подробности в журнале.</translation>
    </message>
    <message>
        <source>The name “%1” is taken. “%2” may be free.</source>
        <translation>Имя «%1» занято. Возможно, свободно «%2».</translation>
    </message>
    <message>
        <source>The name “%1” is taken. Choose another one.</source>
        <translation>Имя «%1» занято. Выберите другое.</translation>
    </message>
    <message>
        <source>The name or address and the password do not belong together. Somebody else may have an account with this name.</source>
        <translation>Имя или адрес и пароль не подходят друг к другу. Возможно, учётная запись с таким именем есть у кого-то другого.</translation>
    </message>
    <message>
        <source>The password is too short: it needs %1 letters or more. Some words in a row do well.</source>
        <translation>Пароль слишком короткий: нужно не меньше %1 знаков. Хорошо подходят несколько слов подряд.</translation>
    </message>
    <message>
        <source>This password is one letter again and again. Choose another one.</source>
        <translation>Этот пароль – один и тот же знак. Выберите другой.</translation>
    </message>
    <message>
        <source>This password is the name or the address itself. Choose another one.</source>
        <translation>Этот пароль совпадает с именем или адресом. Выберите другой.</translation>
    </message>
    <message>
        <source>This is no e-mail address. One looks like ada@example.org.</source>
        <translation>Это не адрес электронной почты. Он выглядит так: ada@example.org.</translation>
    </message>
    <message>
        <source>This project takes nobody without an invite. Ask it for a join link that has one.</source>
        <translation>В этот проект принимают только по приглашению. Попросите у него ссылку с приглашением.</translation>
    </message>
    <message>
        <source>This invite is not one of this project&apos;s. Ask it for a new join link.</source>
        <translation>Это приглашение не от этого проекта. Попросите у него новую ссылку.</translation>
    </message>
    <message>
        <source>This invite has expired. Ask the project for a new join link.</source>
        <translation>Срок этого приглашения истёк. Попросите у проекта новую ссылку.</translation>
    </message>
    <message>
        <source>This invite has been used up. Ask the project for a new join link.</source>
        <translation>Это приглашение уже использовано. Попросите у проекта новую ссылку.</translation>
    </message>
    <message>
        <source>The account “%1” is made, and waits for the project&apos;s approval. Try again, in the same way, when you have it.</source>
        <translation>Учётная запись «%1» создана и ждёт одобрения проекта. Когда оно будет, попробуйте ещё раз точно так же.</translation>
    </message>
    <message>
        <source>There were too many tries just now. Try again in %1 seconds.</source>
        <translation>Только что было слишком много попыток. Попробуйте снова через %1 с.</translation>
    </message>
    <message>
        <source>Many accounts were made from this address just now. Try again in %1 minutes.</source>
        <translation>С этого адреса только что создано много учётных записей. Попробуйте снова через %1 мин.</translation>
    </message>
    <message>
        <source>This computer has been removed from the project, by its owner or by the project.</source>
        <translation>Этот компьютер исключён из проекта – его владельцем или самим проектом.</translation>
    </message>
    <message>
        <source>Starling&apos;s background program is not running.</source>
        <translation>Фоновая программа Starling не запущена.</translation>
    </message>
    <message>
        <source>There is no team “%1”.</source>
        <translation>Команды «%1» нет.</translation>
    </message>
    <message>
        <source>There is a team “%1” already. Join it, or choose another name.</source>
        <translation>Команда «%1» уже есть. Вступите в неё или выберите другое название.</translation>
    </message>
    <message>
        <source>Only volunteers with a name, and the project&apos;s approval, have teams.</source>
        <translation>Команды бывают только у участников с именем и с одобрением проекта.</translation>
    </message>
    <message>
        <source>The team “%1” is kept out of this project by its operator: %2</source>
        <translation>Организатор не допускает команду «%1» в этот проект: %2</translation>
    </message>
    <message>
        <source>the averaged result differed from the group&apos;s</source>
        <translation>усреднённый результат разошёлся с результатом группы</translation>
    </message>
    <message>
        <source>the last round&apos;s group came to no decision</source>
        <translation>группа прошлого раунда не пришла к решению</translation>
    </message>
    <message>
        <source>waiting for the coordinator&apos;s first answer</source>
        <translation>ожидается первый ответ координатора</translation>
    </message>
    <message>
        <source>the coordinator names another model to begin with than the one that the project has signed, so nothing is trained here</source>
        <translation>координатор называет другую начальную модель, чем та, которую подписал проект, поэтому здесь ничего не обучается</translation>
    </message>
    <message>
        <source>tell the project&apos;s operator</source>
        <translation>сообщите организатору проекта</translation>
    </message>
    <message>
        <source>the coordinator cannot be reached, and only half of the group or less is left</source>
        <translation>координатор недоступен, а от группы осталась половина или меньше</translation>
    </message>
    <message>
        <source>as much is computed here as a round takes</source>
        <translation>здесь уже вычислено столько, сколько нужно раунду</translation>
    </message>
    <message>
        <source>the others average it</source>
        <translation>остальные усреднят результат</translation>
    </message>
    <message>
        <source>all samples dealt to this computer are computed</source>
        <translation>все примеры, выданные этому компьютеру, вычислены</translation>
    </message>
    <message>
        <source>the coordinator deals more</source>
        <translation>координатор выдаст новые примеры</translation>
    </message>
    <message>
        <source>the trainer fails</source>
        <translation>вычисления раз за разом завершаются сбоем</translation>
    </message>
    <message>
        <source>downloading the tokenizer&apos;s data</source>
        <translation>загружаются данные токенизатора</translation>
    </message>
    <message>
        <source>downloading the program&apos;s data</source>
        <translation>загружается программа модели</translation>
    </message>
    <message>
        <source>downloading the initial data</source>
        <translation>загружаются начальные параметры модели</translation>
    </message>
    <message>
        <source>open the port for other volunteers</source>
        <translation>не удалось открыть порт для других участников</translation>
    </message>
    <message>
        <source>the port is free, or the daemon is started with another --port</source>
        <translation>порт освободится или фоновая программа будет запущена с другим --port</translation>
    </message>
    <message>
        <source>the clocks are right</source>
        <translation>часы будут идти верно</translation>
    </message>
    <message>
        <source>there is room for it</source>
        <translation>для этого появится место</translation>
    </message>
    <message>
        <source>this computer lets it happen</source>
        <translation>этот компьютер позволит это сделать</translation>
    </message>
    <message>
        <source>the coordinator takes this computer&apos;s certificate</source>
        <translation>координатор примет сертификат этого компьютера</translation>
    </message>
    <message>
        <source>the project&apos;s operator settles it</source>
        <translation>организатор проекта решит этот вопрос</translation>
    </message>
    <message>
        <source>the project has a run</source>
        <translation>в проекте появится обучение</translation>
    </message>
    <message>
        <source>Starling is updated</source>
        <translation>Starling обновится</translation>
    </message>
    <message>
        <source>the project sends what can be used</source>
        <translation>проект пришлёт то, что можно использовать</translation>
    </message>
    <message>
        <source>that has changed</source>
        <translation>это изменится</translation>
    </message>
    <message>
        <source>a further try succeeds</source>
        <translation>удастся одна из следующих попыток</translation>
    </message>
    <message>
        <source>other computers cannot control this daemon</source>
        <translation>другие компьютеры не могут управлять этой фоновой программой</translation>
    </message>
    <message>
        <source>A name needs a letter or a digit.</source>
        <translation>В имени должна быть хотя бы одна буква или цифра.</translation>
    </message>
    <message>
        <source>This name is too long: a name has %1 letters at most.</source>
        <translation>Это имя слишком длинное: в имени не может быть больше %1 букв.</translation>
    </message>
    <message>
        <source>This name is too long: its letters have too many marks.</source>
        <translation>Это имя слишком длинное: у его букв слишком много знаков.</translation>
    </message>
    <message>
        <source>This name is damaged: its bytes are no text.</source>
        <translation>Это имя повреждено: его байты не образуют текста.</translation>
    </message>
    <message>
        <source>This name has two blanks in a row. Use single ones.</source>
        <translation>В этом имени два пробела подряд. Ставьте по одному.</translation>
    </message>
    <message>
        <source>This name has letters that are written from right to left beside others that are not. Use one direction.</source>
        <translation>В этом имени буквы, которые пишутся справа налево, стоят рядом с буквами, которые пишутся слева направо. Выберите одно направление.</translation>
    </message>
    <message>
        <source>This name has the mark %1 twice in a row.</source>
        <translation>В этом имени знак %1 стоит дважды подряд.</translation>
    </message>
    <message>
        <source>In this name, the mark %1 needs a letter before it.</source>
        <translation>В этом имени перед знаком %1 должна стоять буква.</translation>
    </message>
    <message>
        <source>A letter of this name has more than %1 marks.</source>
        <translation>У одной из букв этого имени больше %1 знаков.</translation>
    </message>
    <message>
        <source>This name has a character that cannot be seen: %1. Use letters, digits, single blanks, dots, underscores or hyphens.</source>
        <translation>В этом имени есть невидимый символ: %1. Используйте буквы, цифры, одиночные пробелы, точки, подчёркивания и дефисы.</translation>
    </message>
    <message>
        <source>This name has %1. Use letters, digits, single blanks, dots, underscores or hyphens.</source>
        <translation>В этом имени есть %1. Используйте буквы, цифры, одиночные пробелы, точки, подчёркивания и дефисы.</translation>
    </message>
    <message>
        <source>This name cannot be shown: %1.</source>
        <translation>Это имя нельзя показать: %1.</translation>
    </message>
    <message>
        <source>The coordinator names a state of round %1 that is not proven, so it is not loaded: %2. Tell the project&apos;s operator</source>
        <translation>Координатор называет состояние раунда %1, которое не доказано, поэтому оно не загружается: %2. Сообщите организатору проекта</translation>
    </message>
    <message>
        <source>changing over to the project&apos;s next run</source>
        <translation>переход к следующему обучению проекта</translation>
    </message>
    <message>
        <source>switched off in the preferences</source>
        <translation>отключена в настройках</translation>
    </message>
    <message>
        <source>somebody uses the computer</source>
        <translation>за компьютером кто-то работает</translation>
    </message>
    <message>
        <source>no sensor tells whether somebody uses the computer</source>
        <translation>ни один датчик не показывает, работает ли кто-то за компьютером</translation>
    </message>
    <message>
        <source>paused by you, until you resume it</source>
        <translation>приостановлена вами, пока вы её не возобновите</translation>
    </message>
    <message>
        <source>snoozed by you, until %1</source>
        <translation>отложена вами до: %1</translation>
    </message>
    <message>
        <source>this LibTorch is built without CUDA</source>
        <translation>эта LibTorch собрана без CUDA</translation>
    </message>
    <message>
        <source>this kernel has no Landlock to confine its driver with</source>
        <translation>в этом ядре нет Landlock, чтобы ограничить её драйвер</translation>
    </message>
    <message>
        <source>the run&apos;s model is a program of the project&apos;s own, and gets no card</source>
        <translation>модель — собственная программа проекта, видеокарта ей не даётся</translation>
    </message>
    <message>
        <source>it was not allowed yet when the trainer started</source>
        <translation>когда программа обучения запускалась, её ещё нельзя было использовать</translation>
    </message>
    <message>
        <source>its driver finds none: %1</source>
        <translation>драйвер её не находит: %1</translation>
    </message>
    <message>
        <source>it does not work: %1</source>
        <translation>она не работает: %1</translation>
    </message>
    <message>
        <source>What computes is known once the trainer has started.</source>
        <translation>На чём идут вычисления, станет известно, когда запустится программа обучения.</translation>
    </message>
    <message>
        <source>at most %1 of %2 of memory each</source>
        <translation>не более %1 из %2 памяти на каждую</translation>
    </message>
    <message>
        <source>at most %1 of %2 of memory</source>
        <translation>не более %1 из %2 памяти</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 памяти</translation>
    </message>
    <message>
        <source>Computes on %1</source>
        <translation>Вычисляет: %1</translation>
    </message>
    <message>
        <source>%1 without CUDA</source>
        <translation>%1 без CUDA</translation>
    </message>
    <message>
        <source>%1 with %2</source>
        <translation>%1 с %2</translation>
    </message>
    <message>
        <source>Computing: alike %1 times, %2 of %3 seconds</source>
        <translation>Вычисления: совпало раз: %1, прошло %2 из %3 секунд</translation>
    </message>
    <message>
        <source>Memory: %1 % of %2 GB written and read</source>
        <translation>Память: записано и прочитано %1 % из %2 ГБ</translation>
    </message>
    <message>
        <source>It computed one thing %1 times in %2 seconds: always alike, and what others find.</source>
        <translation>Одно и то же вычислено %1 раз за %2 с: всегда одинаково и так же, как у других.</translation>
    </message>
    <message>
        <source>It found no number where others find one. Memory or the processor may be overclocked, too hot or broken.</source>
        <translation>Там, где у других получается число, здесь оно не получилось. Возможно, память или процессор разогнаны, перегреваются или неисправны.</translation>
    </message>
    <message>
        <source>It found something else than others do. Memory or the processor may be overclocked, too hot or broken.</source>
        <translation>Получился иной результат, чем у других. Возможно, память или процессор разогнаны, перегреваются или неисправны.</translation>
    </message>
    <message>
        <source>It got two different results from one computation. Memory or the processor may be overclocked, too hot or broken.</source>
        <translation>Одно и то же вычисление дало два разных результата. Возможно, память или процессор разогнаны, перегреваются или неисправны.</translation>
    </message>
    <message>
        <source>Stopped before the end.</source>
        <translation>Остановлено до конца.</translation>
    </message>
    <message>
        <source>None is free just now, so it was not tested.</source>
        <translation>Свободной сейчас нет, поэтому она не проверена.</translation>
    </message>
    <message>
        <source>%1 GB could not be had, so it was not tested: %2</source>
        <translation>%1 ГБ получить не удалось, поэтому она не проверена: %2</translation>
    </message>
    <message>
        <source>%1 GB were written twice, and read back as they were.</source>
        <translation>%1 ГБ дважды записаны и прочитаны без изменений.</translation>
    </message>
    <message>
        <source>%2 GB were written, and %1 places read back otherwise: memory that is broken or overclocked.</source>
        <translation>Записано %2 ГБ, и в %1 местах прочитано иное: память неисправна или разогнана.</translation>
    </message>
    <message>
        <source>Nothing could be computed: %1</source>
        <translation>Вычислить ничего не удалось: %1</translation>
    </message>
    <message>
        <source>Undo overclocking (memory profiles such as XMP and EXPO, too), clean the cooler, test the memory with memtest86+, and test again. Until then, do not train here.</source>
        <translation>Отмените разгон (в том числе профили памяти XMP и EXPO), почистите охлаждение, проверьте память программой memtest86+ и повторите проверку. До тех пор не обучайте на этом компьютере.</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Процессор</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Память</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Видеокарта</translation>
    </message>
    <message>
        <source>The program that computes</source>
        <translation>Вычисляющая программа</translation>
    </message>
    <message>
        <source>This test leaves it out.</source>
        <translation>Эта проверка её не касается.</translation>
    </message>
    <message>
        <source>From the same samples, others computed something else than this computer. Its credit that was not final yet is taken back. The usual cause is memory or a card that is overclocked, too hot or broken.</source>
        <translation>Другие получили из тех же примеров иной результат, чем этот компьютер. Его очки, которые ещё не были окончательными, сняты. Обычная причина – разогнанная, перегретая или неисправная память или видеокарта.</translation>
    </message>
    <message>
        <source>From the same samples, others computed something else than this computer, %1 times. It has no part in rounds until a test finds nothing wrong. The usual cause is memory or a card that is overclocked, too hot or broken.</source>
        <translation>Другие получили из тех же примеров иной результат, чем этот компьютер (раз: %1). Он не участвует в раундах, пока проверка не покажет, что всё в порядке. Обычная причина – разогнанная, перегретая или неисправная память или видеокарта.</translation>
    </message>
    <message>
        <source>From the same samples, others computed something else than this computer, %1 times. It has no part in rounds before round %2, nor until a test finds nothing wrong. The usual cause is memory or a card that is overclocked, too hot or broken.</source>
        <translation>Другие получили из тех же примеров иной результат, чем этот компьютер (раз: %1). Он не участвует в раундах до раунда %2 и пока проверка не покажет, что всё в порядке. Обычная причина – разогнанная, перегретая или неисправная память или видеокарта.</translation>
    </message>
    <message>
        <source>From the same samples, others computed something else than this computer, %1 times. It has no part in rounds before round %2. The usual cause is memory or a card that is overclocked, too hot or broken.</source>
        <translation>Другие получили из тех же примеров иной результат, чем этот компьютер (раз: %1). Он не участвует в раундах до раунда %2. Обычная причина – разогнанная, перегретая или неисправная память или видеокарта.</translation>
    </message>
</context>
<context>
    <name>Format</name>
    <message>
        <source>B</source>
        <translation>Б</translation>
    </message>
    <message>
        <source>kB</source>
        <translation>кБ</translation>
    </message>
    <message>
        <source>MB</source>
        <translation>МБ</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>ГБ</translation>
    </message>
    <message>
        <source>TB</source>
        <translation>ТБ</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>number and unit</comment>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>d MMMM</source>
        <translation>d MMMM</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>day and time</comment>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1 Mbit/s</source>
        <translation>%1 Мбит/с</translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message>
        <source>Information</source>
        <translation>Сведения</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Предупреждение</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Ошибка</translation>
    </message>
</context>
<context>
    <name>Preferences</name>
    <message>
        <source>min</source>
        <translation>мин</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>ГБ</translation>
    </message>
    <message>
        <source>°C</source>
        <translation>°C</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Мбит/с</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Всегда</translation>
    </message>
    <message>
        <source>By the rules</source>
        <translation>По правилам</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>Никогда</translation>
    </message>
</context>
<context>
    <name>Rules</name>
    <message>
        <source>Goes on: %1.</source>
        <comment>a moment</comment>
        <translation>Продолжение: %1.</translation>
    </message>
    <message>
        <source>Change the limit…</source>
        <translation>Изменить предел…</translation>
    </message>
    <message>
        <source>Paused by you</source>
        <translation>Пауза по вашей просьбе</translation>
    </message>
    <message>
        <source>Snoozed by you</source>
        <translation>Отложено по вашей просьбе</translation>
    </message>
    <message>
        <source>Goes on when you resume.</source>
        <translation>Продолжится, когда вы возобновите.</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Возобновить</translation>
    </message>
    <message>
        <source>Training is switched off in the preferences</source>
        <translation>Обучение выключено в настройках</translation>
    </message>
    <message>
        <source>Goes on when you switch it on.</source>
        <translation>Продолжится, когда вы его включите.</translation>
    </message>
    <message>
        <source>Train by the rules again</source>
        <translation>Снова обучать по правилам</translation>
    </message>
    <message>
        <source>The network is switched off in the preferences</source>
        <translation>Сеть выключена в настройках</translation>
    </message>
    <message>
        <source>Use the network by the rules again</source>
        <translation>Снова использовать сеть по правилам</translation>
    </message>
    <message>
        <source>Less than %1 GB of the disk are free</source>
        <translation>На диске свободно меньше %1 ГБ</translation>
    </message>
    <message>
        <source>Goes on when there is more room.</source>
        <translation>Продолжится, когда места станет больше.</translation>
    </message>
    <message>
        <source>Models and data take more than the %1 GB of disk you allow</source>
        <translation>Модели и данные занимают больше разрешённых вами %1 ГБ</translation>
    </message>
    <message>
        <source>Goes on when you allow more.</source>
        <translation>Продолжится, когда вы разрешите больше.</translation>
    </message>
    <message>
        <source>The computer is hotter than the %1 °C you allow</source>
        <translation>Компьютер горячее разрешённых вами %1 °C</translation>
    </message>
    <message>
        <source>Goes on when it has cooled down.</source>
        <translation>Продолжится, когда он остынет.</translation>
    </message>
    <message>
        <source>This month&apos;s %1 GB of data are used up</source>
        <translation>%1 ГБ данных этого месяца исчерпаны</translation>
    </message>
    <message>
        <source>Goes on next month.</source>
        <translation>Продолжится в следующем месяце.</translation>
    </message>
    <message>
        <source>The battery is below %1 %</source>
        <translation>Заряд батареи ниже %1 %</translation>
    </message>
    <message>
        <source>Goes on when it is plugged in or charged.</source>
        <translation>Продолжится, когда компьютер подключат к сети или зарядят.</translation>
    </message>
    <message>
        <source>A program on your list is running</source>
        <translation>Работает программа из вашего списка</translation>
    </message>
    <message>
        <source>Goes on when it ends.</source>
        <translation>Продолжится, когда она закроется.</translation>
    </message>
    <message>
        <source>Outside the hours of your schedule</source>
        <translation>Сейчас не часы вашего расписания</translation>
    </message>
    <message>
        <source>Goes on when you change the schedule.</source>
        <translation>Продолжится, когда вы измените расписание.</translation>
    </message>
    <message>
        <source>Train at any hour</source>
        <translation>Обучать в любое время</translation>
    </message>
    <message>
        <source>Outside the network hours of your schedule</source>
        <translation>Сейчас не часы сети вашего расписания</translation>
    </message>
    <message>
        <source>Use the network at any hour</source>
        <translation>Использовать сеть в любое время</translation>
    </message>
    <message>
        <source>A program fills the screen</source>
        <translation>Программа занимает весь экран</translation>
    </message>
    <message>
        <source>Goes on when it no longer does.</source>
        <translation>Продолжится, когда она его освободит.</translation>
    </message>
    <message>
        <source>Train during full screen too</source>
        <translation>Обучать и в полноэкранном режиме</translation>
    </message>
    <message>
        <source>The computer runs on battery</source>
        <translation>Компьютер работает от батареи</translation>
    </message>
    <message>
        <source>Goes on when it is plugged in.</source>
        <translation>Продолжится, когда его подключат к сети.</translation>
    </message>
    <message>
        <source>Train on battery too</source>
        <translation>Обучать и от батареи</translation>
    </message>
    <message>
        <source>Somebody uses the computer</source>
        <translation>За компьютером кто-то работает</translation>
    </message>
    <message numerus="yes">
        <source>Goes on when nobody has used it for %n minute(s).</source>
        <translation>
            <numerusform>Продолжится, если никто не тронет его %n минуту.</numerusform>
            <numerusform>Продолжится, если никто не тронет его %n минуты.</numerusform>
            <numerusform>Продолжится, если никто не тронет его %n минут.</numerusform>
        </translation>
    </message>
    <message>
        <source>Train while it is in use too</source>
        <translation>Обучать и тогда</translation>
    </message>
    <message>
        <source>No sensor here tells whether somebody uses the computer</source>
        <translation>Нет датчика, который скажет, занят ли компьютер</translation>
    </message>
    <message>
        <source>Goes on when one does, or when you allow training while it is in use.</source>
        <translation>Продолжится, когда он появится или когда вы разрешите обучать на занятом компьютере.</translation>
    </message>
    <message>
        <source>Goes on when another network is connected.</source>
        <translation>Продолжится с другой сетью.</translation>
    </message>
    <message>
        <source>Use it nevertheless</source>
        <translation>Всё равно использовать</translation>
    </message>
    <message>
        <source>The connection is metered, such as a phone&apos;s</source>
        <translation>Подключение лимитное, например через телефон</translation>
    </message>
</context>
<context>
    <name>SelfTest</name>
    <message>
        <source>The test could not be run</source>
        <translation>Провести проверку не удалось</translation>
    </message>
    <message>
        <source>The program “starling” is not beside this one. Install Starling again.</source>
        <translation>Рядом с этой программой нет программы «starling». Установите Starling заново.</translation>
    </message>
    <message>
        <source>Nothing is known about this computer yet. If it happens again, install Starling again.</source>
        <translation>Об этом компьютере пока ничего не известно. Если это повторится, установите Starling заново.</translation>
    </message>
    <message>
        <source>Nothing wrong was found</source>
        <translation>Всё в порядке</translation>
    </message>
    <message>
        <source>The project is told, and this computer takes part again within a moment.</source>
        <translation>Проект об этом узнает, и через мгновение этот компьютер снова участвует.</translation>
    </message>
    <message>
        <source>Some faults show only when everything is warm: a test of ten minutes finds more.</source>
        <translation>Некоторые неисправности видны, только когда всё прогрелось: проверка в течение десяти минут найдёт больше.</translation>
    </message>
    <message>
        <source>This computer computes wrong</source>
        <translation>Этот компьютер считает неверно</translation>
    </message>
    <message>
        <source>Its work cannot be used until that is repaired: others find it wrong, and it is not credited. Repair it as below, and test again.</source>
        <translation>Пока это не исправлено, его работа не годится: другие обнаружат ошибки, и очков за неё не будет. Исправьте, как сказано ниже, и повторите проверку.</translation>
    </message>
    <message>
        <source>The test was stopped</source>
        <translation>Проверка остановлена</translation>
    </message>
    <message>
        <source>Only a test that ran to its end counts.</source>
        <translation>Засчитывается только проверка, которая дошла до конца.</translation>
    </message>
</context>
<context>
    <name>Situation</name>
    <message>
        <source>Start it</source>
        <translation>Запустить</translation>
    </message>
    <message>
        <source>It may be busy, or hang. This window goes on trying.</source>
        <translation>Она занята или зависла. Окно продолжает попытки.</translation>
    </message>
    <message>
        <source>Only that user can control it.</source>
        <translation>Управлять ею может только он.</translation>
    </message>
    <message>
        <source>Starling is not running</source>
        <translation>Starling не запущен</translation>
    </message>
    <message>
        <source>Training for %1</source>
        <translation>Обучение для проекта %1</translation>
    </message>
    <message>
        <source>This round is finished first, then it pauses.</source>
        <translation>Сначала закончится этот раунд, затем пауза.</translation>
    </message>
    <message>
        <source>Do not pause</source>
        <translation>Не делать паузу</translation>
    </message>
    <message>
        <source>This computer is the only one just now; others can join at any time.</source>
        <translation>Сейчас этот компьютер единственный; другие могут присоединиться в любой момент.</translation>
    </message>
    <message>
        <source>Until: %1.</source>
        <comment>what ends it, a clause</comment>
        <translation>До тех пор, пока: %1.</translation>
    </message>
    <message>
        <source>Show the log</source>
        <translation>Показать журнал</translation>
    </message>
    <message>
        <source>No project yet</source>
        <translation>Проекта пока нет</translation>
    </message>
    <message>
        <source>Join a project…</source>
        <translation>Вступить в проект…</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Идёт обучение</translation>
    </message>
    <message>
        <source>Paused by you</source>
        <translation>Пауза по вашей просьбе</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Ожидание</translation>
    </message>
    <message>
        <source>Needs attention</source>
        <translation>Нужно внимание</translation>
    </message>
    <message>
        <source>Disconnected</source>
        <translation>Нет связи</translation>
    </message>
    <message>
        <source>This project needs Starling %1 or newer</source>
        <translation>Этому проекту нужен Starling %1 или новее</translation>
    </message>
    <message>
        <source>It is being installed.</source>
        <translation>Он устанавливается.</translation>
    </message>
    <message>
        <source>Nothing is trained until then.</source>
        <translation>До этого ничего не обучается.</translation>
    </message>
    <message>
        <source>Change the limit…</source>
        <translation>Изменить предел…</translation>
    </message>
    <message>
        <source>I trust this project: allow it</source>
        <translation>Я доверяю этому проекту: разрешить</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>Обновить сейчас</translation>
    </message>
    <message>
        <source>Update it the way Starling was installed.</source>
        <translation>Обновите Starling тем же способом, каким он был установлен.</translation>
    </message>
    <message>
        <source>Looking for Starling&apos;s background program…</source>
        <translation>Ищем фоновую программу Starling…</translation>
    </message>
    <message>
        <source>Starling&apos;s background program does not answer</source>
        <translation>Фоновая программа Starling не отвечает</translation>
    </message>
    <message>
        <source>Starling runs as another user of this computer</source>
        <translation>Starling запущен другим пользователем этого компьютера</translation>
    </message>
    <message>
        <source>Training goes on; %1 cannot be reached</source>
        <translation>Обучение продолжается; проект %1 недоступен</translation>
    </message>
    <message>
        <source>The project&apos;s coordinator does not answer. What is trained is told later; nothing is lost.</source>
        <translation>Координатор проекта не отвечает. О сделанном будет сообщено позже, ничего не потеряется.</translation>
    </message>
    <message numerus="yes">
        <source>It uses up to %n processor thread(s) that nothing else needs.</source>
        <translation>
            <numerusform>Он занимает не больше %n потока процессора, не нужного другим программам.</numerusform>
            <numerusform>Он занимает не больше %n потоков процессора, не нужных другим программам.</numerusform>
            <numerusform>Он занимает не больше %n потоков процессора, не нужных другим программам.</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing is trained until it is started. Your project and your credit are kept.</source>
        <translation>Пока он не запущен, ничего не обучается. Ваш проект и ваши очки сохраняются.</translation>
    </message>
    <message>
        <source>Paste the link a project gave you, and this computer helps to train its model. Without a link, ask the project: many have a button “Join this project” on their web page.</source>
        <translation>Вставьте ссылку, которую дал вам проект, и этот компьютер поможет обучать его модель. Если ссылки нет, спросите у проекта: у многих на веб-странице есть кнопка «Join this project».</translation>
    </message>
    <message>
        <source>This computer is one of %1 that train its neural network together.</source>
        <translation>Этот компьютер – один из %1, вместе обучающих его нейросеть.</translation>
    </message>
    <message>
        <source>it was right</source>
        <comment>a computer&apos;s work, found by others</comment>
        <translation>она была верной</translation>
    </message>
    <message numerus="yes">
        <source>it was wrong %n time(s)</source>
        <translation>
            <numerusform>неверной она была %n раз</numerusform>
            <numerusform>неверной она была %n раза</numerusform>
            <numerusform>неверной она была %n раз</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Others have checked its work %n time(s): %1.</source>
        <translation>
            <numerusform>Другие проверили его работу %n раз: %1.</numerusform>
            <numerusform>Другие проверили его работу %n раза: %1.</numerusform>
            <numerusform>Другие проверили его работу %n раз: %1.</numerusform>
        </translation>
    </message>
    <message>
        <source>Kept out of the rounds of %1 for now</source>
        <translation>Пока не участвует в раундах проекта %1</translation>
    </message>
    <message>
        <source>What this computer computes meanwhile is not used.</source>
        <translation>То, что этот компьютер вычисляет тем временем, не используется.</translation>
    </message>
</context>
<context>
    <name>Snooze</name>
    <message>
        <source>15 minutes</source>
        <translation>15 минут</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 час</translation>
    </message>
    <message>
        <source>3 hours</source>
        <translation>3 часа</translation>
    </message>
    <message>
        <source>8 hours</source>
        <translation>8 часов</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>До завтра</translation>
    </message>
    <message>
        <source>Until I resume</source>
        <translation>Пока не возобновлю</translation>
    </message>
    <message>
        <source>Use it again</source>
        <translation>Снова использовать</translation>
    </message>
    <message>
        <source>Pause the graphics card for…</source>
        <translation>Не использовать видеокарту…</translation>
    </message>
    <message>
        <source>Pause for…</source>
        <translation>Пауза на…</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>As hidden; and nothing at all for who has joined no project</source>
        <translation>Как hidden, а для тех, кто не вступил ни в один проект, вообще ничего</translation>
    </message>
    <message>
        <source>Starling: this computer&apos;s idle time for a community&apos;s neural network</source>
        <translation>Starling: свободное время этого компьютера для нейронной сети сообщества</translation>
    </message>
    <message>
        <source>The daemon&apos;s data directory</source>
        <translation>Папка данных службы</translation>
    </message>
    <message>
        <source>Only the icon in the panel, where there is one</source>
        <translation>Только значок на панели, если она есть</translation>
    </message>
    <message>
        <source>A link to join a project with</source>
        <translation>Ссылка для вступления в проект</translation>
    </message>
</context>
<context>
    <name>starling::app::Application</name>
    <message>
        <source>Colours</source>
        <translation>Цвета</translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation>Как в системе</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Светлые</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Тёмные</translation>
    </message>
    <message>
        <source>Language (from the next start)</source>
        <translation>Язык (после перезапуска)</translation>
    </message>
    <message>
        <source>This window</source>
        <translation>Это окно</translation>
    </message>
    <message>
        <source>Starling goes on</source>
        <translation>Starling продолжает работу</translation>
    </message>
    <message>
        <source>The window is closed, and training goes on within your limits. The bird in the panel brings the window back.</source>
        <translation>Окно закрыто, обучение продолжается в заданных вами пределах. Птица на панели вернёт окно.</translation>
    </message>
    <message>
        <source>The window is closed, and training goes on within your limits. Start Starling again to see it.</source>
        <translation>Окно закрыто, обучение продолжается в заданных вами пределах. Чтобы увидеть его, запустите Starling снова.</translation>
    </message>
    <message>
        <source>All right</source>
        <translation>Хорошо</translation>
    </message>
    <message>
        <source>Stop training instead</source>
        <translation>Остановить обучение</translation>
    </message>
    <message>
        <source>Start Starling, and with it training, when I log in</source>
        <translation>Запускать Starling, а с ним и обучение, при входе в систему</translation>
    </message>
    <message>
        <source>When you log in the next time, it starts by itself; the preferences can switch that off.</source>
        <translation>При следующем входе в систему он запустится сам; это можно выключить в настройках.</translation>
    </message>
    <message>
        <source>When you log in the next time, it does not start by itself; the preferences can switch that on.</source>
        <translation>При следующем входе в систему он сам не запустится; это можно включить в настройках.</translation>
    </message>
</context>
<context>
    <name>starling::app::Notifier</name>
    <message>
        <source>Starling needs attention</source>
        <translation>Starling требует внимания</translation>
    </message>
    <message>
        <source>First contribution accepted</source>
        <translation>Первый вклад принят</translation>
    </message>
    <message>
        <source>The model of %1 has learned from this computer.</source>
        <translation>Модель проекта %1 научилась чему-то у этого компьютера.</translation>
    </message>
    <message>
        <source>Thank you</source>
        <translation>Спасибо</translation>
    </message>
    <message>
        <source>%1 samples of yours have been accepted.</source>
        <translation>Принято ваших примеров: %1.</translation>
    </message>
    <message>
        <source>Starling was updated</source>
        <translation>Starling обновлён</translation>
    </message>
    <message>
        <source>Version %1 runs now.</source>
        <translation>Теперь работает версия %1.</translation>
    </message>
    <message>
        <source>Starling %1 is out</source>
        <translation>Вышла версия Starling %1</translation>
    </message>
    <message>
        <source>It can be installed at the end of a round.</source>
        <translation>Её можно установить в конце раунда.</translation>
    </message>
    <message>
        <source>Update it the way Starling was installed.</source>
        <translation>Обновите Starling тем же способом, каким он был установлен.</translation>
    </message>
</context>
<context>
    <name>starling::app::Tray</name>
    <message>
        <source>Restart this window as the new version</source>
        <translation>Перезапустить это окно новой версией</translation>
    </message>
    <message>
        <source>Open Starling</source>
        <translation>Открыть Starling</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Возобновить</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Обучение</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Сеть</translation>
    </message>
    <message>
        <source>Statistics…</source>
        <translation>Статистика…</translation>
    </message>
    <message>
        <source>Log…</source>
        <translation>Журнал…</translation>
    </message>
    <message>
        <source>Preferences…</source>
        <translation>Настройки…</translation>
    </message>
    <message>
        <source>By the rules</source>
        <translation>По правилам</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Всегда</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>Никогда</translation>
    </message>
    <message>
        <source>Starling: %1</source>
        <translation>Starling: %1</translation>
    </message>
    <message>
        <source>Install Starling %1</source>
        <translation>Установить Starling %1</translation>
    </message>
    <message>
        <source>Starling %1 is being installed</source>
        <translation>Starling %1 устанавливается</translation>
    </message>
    <message>
        <source>Starling %1 is out</source>
        <translation>Вышла версия Starling %1</translation>
    </message>
    <message>
        <source>Pause now, until I resume</source>
        <translation>Пауза сейчас, пока не возобновлю</translation>
    </message>
    <message>
        <source>Pause when this round is done</source>
        <translation>Пауза после этого раунда</translation>
    </message>
    <message>
        <source>Quit, and stop training until Starling starts again</source>
        <translation>Выйти и остановить обучение до следующего запуска Starling</translation>
    </message>
    <message>
        <source>Quit; training goes on in the background</source>
        <translation>Выйти; обучение продолжится в фоне</translation>
    </message>
</context>
<context>
    <name>starling::widgets::AccountPage</name>
    <message>
        <source>Project</source>
        <translation>Проект</translation>
    </message>
    <message>
        <source>Your name on the leaderboard</source>
        <translation>Ваше имя в таблице участников</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Обучение</translation>
    </message>
    <message>
        <source>Credited to you in this run</source>
        <translation>Засчитано вам в этом обучении</translation>
    </message>
    <message>
        <source>This computer&apos;s pseudonym</source>
        <translation>Псевдоним этого компьютера</translation>
    </message>
    <message>
        <source>Others see your name and what you contributed. They see neither this computer&apos;s name nor its address on any page.</source>
        <translation>Другие видят ваше имя и ваш вклад. Ни имени этого компьютера, ни его адреса нет ни на одной странице.</translation>
    </message>
    <message>
        <source>Leave</source>
        <translation>Покинуть</translation>
    </message>
    <message>
        <source>Join another project…</source>
        <translation>Присоединиться к ещё одному проекту…</translation>
    </message>
    <message>
        <source>Projects that take turns on this computer:</source>
        <translation>Проекты, которые обучаются на этом компьютере по очереди:</translation>
    </message>
    <message>
        <source>%1: %2 % of the time, %3 hours so far</source>
        <translation>%1: %2 % времени, пока %3 ч</translation>
    </message>
    <message>
        <source>%1 – its turn now</source>
        <translation>%1 – сейчас его очередь</translation>
    </message>
    <message>
        <source>What was accepted from you stays credited. The model and its data are removed from this computer. Without another project nothing is trained until you join one.</source>
        <translation>Всё принятое от вас остаётся засчитанным. Модель и её данные будут удалены с этого компьютера. Если других проектов нет, ничего не обучается, пока вы не присоединитесь к какому-нибудь.</translation>
    </message>
    <message>
        <source>Leave this project…</source>
        <translation>Покинуть этот проект…</translation>
    </message>
    <message>
        <source>%1 credit (points, not money) for %2 accepted samples</source>
        <translation>%1 очков (это не деньги) за %2 принятых примеров</translation>
    </message>
    <message>
        <source>Leave the project %1?</source>
        <translation>Покинуть проект %1?</translation>
    </message>
</context>
<context>
    <name>starling::widgets::FirstRunWizard</name>
    <message>
        <source>Join %1: %2</source>
        <translation>Вступить в %1: %2</translation>
    </message>
    <message>
        <source>Join a project</source>
        <translation>Вступить в проект</translation>
    </message>
</context>
<context>
    <name>starling::widgets::FirstStepsPage</name>
    <message>
        <source>Try again</source>
        <translation>Попробовать снова</translation>
    </message>
    <message>
        <source>First steps</source>
        <translation>Первые шаги</translation>
    </message>
    <message>
        <source>You may close this window at any time: it goes on by itself.</source>
        <translation>Это окно можно закрыть в любой момент: дальше всё идёт само.</translation>
    </message>
    <message>
        <source>Joining…</source>
        <translation>Вступление…</translation>
    </message>
    <message>
        <source>That did not work: %1</source>
        <translation>Не получилось: %1</translation>
    </message>
    <message>
        <source>Joined %1</source>
        <translation>Вы в проекте %1</translation>
    </message>
    <message>
        <source>The model and its data are on this computer</source>
        <translation>Модель и данные на этом компьютере</translation>
    </message>
    <message>
        <source>Connection test: can others call this computer?</source>
        <translation>Проверка связи: доступен ли этот компьютер другим?</translation>
    </message>
    <message>
        <source>Connection test: others cannot call this computer, so it calls them; full credit all the same</source>
        <translation>Проверка связи: другие не могут обратиться к этому компьютеру, поэтому обращается он; вклад засчитывается полностью</translation>
    </message>
    <message>
        <source>The first samples are computed</source>
        <translation>Первые примеры обработаны</translation>
    </message>
    <message>
        <source>The first samples are accepted: %1 so far</source>
        <translation>Первые примеры приняты: уже %1</translation>
    </message>
    <message>
        <source>The first samples are accepted</source>
        <translation>Первые примеры приняты</translation>
    </message>
    <message>
        <source>Thank you! The model has learned from this computer.</source>
        <translation>Спасибо! Модель научилась чему-то у этого компьютера.</translation>
    </message>
    <message>
        <source>Change the name or the password…</source>
        <translation>Изменить имя или пароль…</translation>
    </message>
    <message>
        <source>To stop for a while, press Pause in the window. To stop for good, choose “Leave this project…” in its menu ☰.</source>
        <translation>Чтобы остановить на время, нажмите в окне «Пауза». Чтобы остановить насовсем, выберите в его меню ☰ «Покинуть этот проект…».</translation>
    </message>
    <message>
        <source>Connection test passed: members connect directly, strangers get no answer</source>
        <translation>Проверка связи пройдена: участники подключаются напрямую, посторонним ответа нет</translation>
    </message>
</context>
<context>
    <name>starling::widgets::GivePage</name>
    <message>
        <source>I agree to give this</source>
        <translation>Я согласен это отдать</translation>
    </message>
    <message>
        <source>What you give</source>
        <translation>Что вы отдаёте</translation>
    </message>
    <message>
        <source>&lt;b&gt;Network:&lt;/b&gt; %1 once for data; then up to %2 each way for every round of averaging.</source>
        <translation>&lt;b&gt;Сеть:&lt;/b&gt; %1 один раз за данные; затем до %2 в каждую сторону за каждый раунд усреднения.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Disk:&lt;/b&gt; about %1.</source>
        <translation>&lt;b&gt;Диск:&lt;/b&gt; около %1.</translation>
    </message>
    <message>
        <source>&lt;b&gt;What is trained:&lt;/b&gt; “%1”, a model of %2 million parameters.</source>
        <translation>&lt;b&gt;Что обучается:&lt;/b&gt; «%1», модель из %2 млн параметров.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Public:&lt;/b&gt; the name you choose next, and how many samples you contributed. Other volunteers&apos; programs see this computer&apos;s network address; no page shows it.</source>
        <translation>&lt;b&gt;Видно всем:&lt;/b&gt; имя, которое вы сейчас выберете, и число ваших примеров. Программы других участников видят сетевой адрес этого компьютера, но ни одна страница его не показывает.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Never:&lt;/b&gt; your files. Starling itself computes, shut off from your data and from the network; a program from the project runs only if you have allowed that very program, shut off in the same way.</source>
        <translation>&lt;b&gt;Никогда:&lt;/b&gt; ваши файлы. Считает сам Starling, в отрыве от ваших данных и от сети; программа проекта запускается, только если вы разрешили именно её, и так же в отрыве от них.</translation>
    </message>
    <message>
        <source>&lt;b&gt;Time&lt;/b&gt; of this computer&apos;s processor, and of its graphics card if it has one, that your own programs leave, within the limits you choose on the next pages. It costs electricity, and makes heat and fan noise.</source>
        <translation>&lt;b&gt;Время&lt;/b&gt; процессора и, если есть, видеокарты этого компьютера, которое не нужно вашим программам, в пределах, которые вы выберете дальше. Это расход электричества, тепло и шум вентилятора.</translation>
    </message>
    <message>
        <source>You can pause, change your limits or leave at any second; your credit stays.</source>
        <translation>В любую секунду можно сделать паузу, изменить пределы или уйти; очки останутся за вами.</translation>
    </message>
    <message>
        <source>&lt;b&gt;To stop:&lt;/b&gt; the button Pause in Starling&apos;s window; for good, “Leave this project…” in the menu ☰ there.</source>
        <translation>&lt;b&gt;Остановить:&lt;/b&gt; кнопка «Пауза» в окне Starling; насовсем – «Покинуть этот проект…» там же в меню ☰.</translation>
    </message>
    <message>
        <source>&lt;b&gt;For the project alone:&lt;/b&gt; this computer&apos;s speed, and which processor or graphics card trains, with its memory.</source>
        <translation>&lt;b&gt;Только для проекта:&lt;/b&gt; скорость этого компьютера, а также какой процессор или какая видеокарта обучает и сколько там памяти.</translation>
    </message>
</context>
<context>
    <name>starling::widgets::HomePage</name>
    <message>
        <source>The model learns: training loss by round, lower is better</source>
        <translation>Модель учится: ошибка по раундам, чем ниже, тем лучше</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Пауза</translation>
    </message>
    <message>
        <source>%1 samples accepted from you in this run</source>
        <translation>Принято от вас примеров в этом обучении: %1</translation>
    </message>
    <message>
        <source>%1 samples a second together, %2 of them here</source>
        <translation>%1 примеров в секунду вместе, из них здесь %2</translation>
    </message>
    <message numerus="yes">
        <source>%1 credit in %n round(s) since midnight</source>
        <translation>
            <numerusform>%1 очков за %n раунд с полуночи</numerusform>
            <numerusform>%1 очков за %n раунда с полуночи</numerusform>
            <numerusform>%1 очков за %n раундов с полуночи</numerusform>
        </translation>
    </message>
    <message>
        <source>samples computed here today</source>
        <translation>примеров вычислено здесь сегодня</translation>
    </message>
    <message>
        <source>Stops at once, and frees processor, graphics card and memory, until you resume</source>
        <translation>Остановит сразу и освободит процессор, видеокарту и память, пока вы не продолжите</translation>
    </message>
    <message>
        <source>Pause for…</source>
        <translation>Пауза на…</translation>
    </message>
    <message>
        <source>Goes on by itself after the time you choose</source>
        <translation>Продолжит само через выбранное время</translation>
    </message>
    <message>
        <source>credit: points for accepted work, not money</source>
        <translation>очков за принятую работу; это не деньги</translation>
    </message>
    <message>
        <source>computers in the run, this one included</source>
        <translation>компьютеров в обучении, считая этот</translation>
    </message>
    <message>
        <source>test score on unseen data; lower is better</source>
        <translation>ошибка на незнакомых данных; чем меньше, тем лучше</translation>
    </message>
    <message>
        <source>Pause when this round is done</source>
        <translation>Пауза после этого раунда</translation>
    </message>
    <message>
        <source>Bits per byte, or per label, of data that the model is not trained on; lower is better</source>
        <translation>Бит на байт или на метку данных, на которых модель не учится; чем меньше, тем лучше</translation>
    </message>
    <message>
        <source>%1 % of them guessed right. </source>
        <translation>%1 % угадано верно. </translation>
    </message>
    <message>
        <source>. The credit of %1 of them is pending: others may still check that work</source>
        <translation>. Очки за %1 из них ещё не окончательны: другие могут проверить эту работу</translation>
    </message>
    <message>
        <source>Test this computer…</source>
        <translation>Проверить этот компьютер…</translation>
    </message>
    <message>
        <source>Finds out within half a minute whether this computer computes right</source>
        <translation>За полминуты выяснит, правильно ли считает этот компьютер</translation>
    </message>
</context>
<context>
    <name>starling::widgets::LeaderboardPage</name>
    <message>
        <source>Rank</source>
        <translation>Место</translation>
    </message>
    <message>
        <source>Recent average</source>
        <translation>Недавнее среднее</translation>
    </message>
    <message>
        <source>Credit</source>
        <translation>Очки</translation>
    </message>
    <message>
        <source>Samples</source>
        <translation>Примеры</translation>
    </message>
    <message>
        <source>Samples, 24 hours</source>
        <translation>Примеры, 24 часа</translation>
    </message>
    <message>
        <source>Samples, 7 days</source>
        <translation>Примеры, 7 дней</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Имя</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>Назад</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Вперёд</translation>
    </message>
    <message>
        <source>Leaderboard</source>
        <translation>Участники</translation>
    </message>
    <message>
        <source>By recent average</source>
        <translation>По недавнему среднему</translation>
    </message>
    <message>
        <source>By credit in all</source>
        <translation>По очкам всего</translation>
    </message>
    <message>
        <source>By this run</source>
        <translation>По этому обучению</translation>
    </message>
    <message>
        <source>By the last 24 hours</source>
        <translation>За последние 24 часа</translation>
    </message>
    <message>
        <source>By the last 7 days</source>
        <translation>За последние 7 дней</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Порядок</translation>
    </message>
    <message>
        <source>Search for a name</source>
        <translation>Поиск по имени</translation>
    </message>
    <message>
        <source>%1 (you)</source>
        <translation>%1 (вы)</translation>
    </message>
    <message>
        <source>You are number %1 of %2: %3 credit for %4 samples.</source>
        <translation>Вы на месте %1 из %2: %3 очков за %4 примеров.</translation>
    </message>
    <message>
        <source>You appear here with your first accepted sample.</source>
        <translation>Вы появитесь здесь с первым принятым примером.</translation>
    </message>
    <message>
        <source>Page %1</source>
        <translation>Страница %1</translation>
    </message>
</context>
<context>
    <name>starling::widgets::LimitsPage</name>
    <message>
        <source>How much</source>
        <translation>Сколько</translation>
    </message>
    <message>
        <source>Every limit can be changed later, one by one, in the preferences.</source>
        <translation>Каждый предел потом можно изменить отдельно, в настройках.</translation>
    </message>
</context>
<context>
    <name>starling::widgets::LinkPage</name>
    <message>
        <source>running</source>
        <translation>идёт</translation>
    </message>
    <message>
        <source>paused by its operator</source>
        <translation>приостановлено организатором</translation>
    </message>
    <message>
        <source>complete</source>
        <translation>завершено</translation>
    </message>
    <message>
        <source>not started yet</source>
        <translation>ещё не запущено</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt; at %2</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;, %2</translation>
    </message>
    <message>
        <source>It has no run yet; you can join and wait for it.</source>
        <translation>Обучения пока нет; можно вступить и подождать.</translation>
    </message>
    <message>
        <source>Run: %1 (%2)</source>
        <translation>Обучение: %1 (%2)</translation>
    </message>
    <message numerus="yes">
        <source>%n volunteer(s) so far</source>
        <translation>
            <numerusform>%n участник до сих пор</numerusform>
            <numerusform>%n участника до сих пор</numerusform>
            <numerusform>%n участников до сих пор</numerusform>
        </translation>
    </message>
    <message>
        <source>Which project?</source>
        <translation>Какой проект?</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>Ссылка для вступления</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>Вставить</translation>
    </message>
    <message>
        <source>A join link begins with starling://</source>
        <translation>Ссылка для вступления начинается с starling://</translation>
    </message>
    <message>
        <source>Asking the project…</source>
        <translation>Спрашиваем проект…</translation>
    </message>
    <message>
        <source>That did not work: %1</source>
        <translation>Не получилось: %1</translation>
    </message>
    <message numerus="yes">
        <source>%n computer(s) in it now</source>
        <translation>
            <numerusform>%n компьютер участвует сейчас</numerusform>
            <numerusform>%n компьютера участвуют сейчас</numerusform>
            <numerusform>%n компьютеров участвуют сейчас</numerusform>
        </translation>
    </message>
    <message>
        <source>Is it the real one? Then the link on the project&apos;s own web page has the same letters and digits as yours behind “ca=”: &lt;b&gt;%1…&lt;/b&gt;</source>
        <translation>Настоящий ли он? Тогда в ссылке на веб-странице самого проекта после «ca=» те же буквы и цифры, что и в вашей: &lt;b&gt;%1…&lt;/b&gt;</translation>
    </message>
    <message>
        <source>No link yet? Ask the project: many have a button “Join this project” on their web page.</source>
        <translation>Ссылки ещё нет? Спросите у проекта: у многих на веб-странице есть кнопка «Join this project».</translation>
    </message>
    <message>
        <source>Starling computes for a community&apos;s neural network, in the time that this computer has to spare. Paste the join link that the project gave you, or what its QR code says.</source>
        <translation>Starling вычисляет для нейросети сообщества в свободное время этого компьютера. Вставьте ссылку, которую дал вам проект, или то, что записано в его QR-коде.</translation>
    </message>
</context>
<context>
    <name>starling::widgets::LogPage</name>
    <message>
        <source>Time</source>
        <translation>Время</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>Уровень</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Что произошло</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Журнал</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Всё</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Предупреждения и ошибки</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Ошибки</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>Поиск в журнале</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Копировать</translation>
    </message>
    <message>
        <source>The selected lines, or all that are shown</source>
        <translation>Выделенные строки или все показанные</translation>
    </message>
</context>
<context>
    <name>starling::widgets::MainWindow</name>
    <message>
        <source>Starling</source>
        <translation>Starling</translation>
    </message>
    <message>
        <source>That did not work: %1</source>
        <translation>Не получилось: %1</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>Обзор</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Обучение</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>Статистика</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Сеть</translation>
    </message>
    <message>
        <source>Leaderboard</source>
        <translation>Участники</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Журнал</translation>
    </message>
    <message>
        <source>Preferences</source>
        <translation>Настройки</translation>
    </message>
    <message>
        <source>Account</source>
        <translation>Учётная запись</translation>
    </message>
    <message>
        <source>Join a project…</source>
        <translation>Вступить в проект…</translation>
    </message>
    <message>
        <source>About Starling</source>
        <translation>О программе Starling</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Меню</translation>
    </message>
    <message>
        <source>%1 – Starling</source>
        <translation>%1 – Starling</translation>
    </message>
    <message>
        <source>Starling %1 gives this computer&apos;s idle time to a community&apos;s neural network.

Free software under the GNU General Public License, version 3 or later.</source>
        <translation>Starling %1 отдаёт свободное время этого компьютера нейросети сообщества.

Свободная программа на условиях GNU General Public License версии 3 или новее.</translation>
    </message>
    <message>
        <source>Leave this project…</source>
        <translation>Покинуть этот проект…</translation>
    </message>
    <message>
        <source>Quit, and stop training until Starling starts again</source>
        <translation>Выйти и остановить обучение до следующего запуска Starling</translation>
    </message>
    <message>
        <source>Quit; training goes on in the background</source>
        <translation>Выйти; обучение продолжится в фоне</translation>
    </message>
    <message>
        <source>Test this computer…</source>
        <translation>Проверить этот компьютер…</translation>
    </message>
    <message>
        <source>Join or leave a project, test this computer, quit</source>
        <translation>Вступить в проект, покинуть его, проверить компьютер, выйти</translation>
    </message>
</context>
<context>
    <name>starling::widgets::NetworkPage</name>
    <message>
        <source>Full credit all the same. To be called directly, let your router forward TCP port %1 to this computer.</source>
        <translation>Вклад всё равно засчитывается полностью. Чтобы к вам обращались напрямую, пусть маршрутизатор передаёт TCP-порт %1 этому компьютеру.</translation>
    </message>
    <message>
        <source>The project sees it at %1.</source>
        <translation>Проект видит его по адресу %1.</translation>
    </message>
    <message>
        <source>The router was asked to open the port: %1</source>
        <translation>Маршрутизатор попросили открыть порт: %1</translation>
    </message>
    <message>
        <source>Others call this computer over a relay (%1)</source>
        <translation>Другие обращаются к этому компьютеру через посредника (%1)</translation>
    </message>
    <message>
        <source>A relay was tried: %1</source>
        <translation>Был испробован посредник: %1</translation>
    </message>
    <message>
        <source>Others cannot call this computer; it calls them</source>
        <translation>Другие не могут обратиться к этому компьютеру; обращается он</translation>
    </message>
    <message>
        <source>At %1, port %2, which the router opened by %3.</source>
        <translation>По адресу %1, порт %2, который открыл маршрутизатор (%3).</translation>
    </message>
    <message>
        <source>At %1, port %2.</source>
        <translation>По адресу %1, порт %2.</translation>
    </message>
    <message>
        <source>Not known yet whether others can call this computer</source>
        <translation>Пока неизвестно, доступен ли этот компьютер другим</translation>
    </message>
    <message>
        <source>The project&apos;s coordinator tries it once this computer takes part.</source>
        <translation>Координатор проекта проверит это, когда компьютер начнёт участвовать.</translation>
    </message>
    <message>
        <source>%1 Mbit/s</source>
        <translation>%1 Мбит/с</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>без предела</translation>
    </message>
    <message>
        <source>This month&apos;s data against the cap</source>
        <translation>Данные этого месяца и предел</translation>
    </message>
    <message>
        <source>upload, measured</source>
        <translation>отправка, измерено</translation>
    </message>
    <message>
        <source>download, measured</source>
        <translation>приём, измерено</translation>
    </message>
    <message>
        <source>sent since the start</source>
        <translation>отправлено с запуска</translation>
    </message>
    <message>
        <source>received since the start</source>
        <translation>получено с запуска</translation>
    </message>
    <message>
        <source>passed on for others</source>
        <translation>передано для других</translation>
    </message>
    <message>
        <source>Change the limits…</source>
        <translation>Изменить пределы…</translation>
    </message>
    <message>
        <source>The line</source>
        <translation>Линия</translation>
    </message>
    <message>
        <source>Data this month</source>
        <translation>Данные за месяц</translation>
    </message>
    <message numerus="yes">
        <source>For %n computer(s) that nobody can call</source>
        <translation>
            <numerusform>Для %n компьютера, к которому нельзя обратиться</numerusform>
            <numerusform>Для %n компьютеров, к которым нельзя обратиться</numerusform>
            <numerusform>Для %n компьютеров, к которым нельзя обратиться</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of the %2 you allow</source>
        <translation>%1 из разрешённых вами %2</translation>
    </message>
    <message>
        <source>%1 so far; no cap is set</source>
        <translation>Пока %1; предел не задан</translation>
    </message>
    <message>
        <source>, about %1 by its end if it goes on like this</source>
        <translation>, к концу месяца около %1, если так пойдёт и дальше</translation>
    </message>
    <message>
        <source>Speed limits: sending %1, receiving %2.</source>
        <translation>Пределы скорости: отправка – %1, приём – %2.</translation>
    </message>
    <message>
        <source>averaging</source>
        <translation>усреднение</translation>
    </message>
    <message>
        <source>whole models</source>
        <translation>модели целиком</translation>
    </message>
    <message>
        <source>coordinator and training data</source>
        <translation>координатор и данные для обучения</translation>
    </message>
    <message>
        <source>Other members of the project can call this computer directly</source>
        <translation>Другие участники проекта обращаются к этому компьютеру напрямую</translation>
    </message>
    <message>
        <source>Nobody without a certificate of this project is answered.</source>
        <translation>Тем, у кого нет сертификата этого проекта, компьютер не отвечает.</translation>
    </message>
</context>
<context>
    <name>starling::widgets::Plot</name>
    <message>
        <source>Nothing yet: the first finished round shows here.</source>
        <translation>Пока ничего: здесь появится первый законченный раунд.</translation>
    </message>
    <message numerus="yes">
        <source>%n value(s), from %1 to %2, the last %3</source>
        <translation>
            <numerusform>%n значение, от %1 до %2, последнее %3</numerusform>
            <numerusform>%n значения, от %1 до %2, последнее %3</numerusform>
            <numerusform>%n значений, от %1 до %2, последнее %3</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>starling::widgets::PreferencesPage</name>
    <message>
        <source>Gentle</source>
        <translation>Бережно</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Поровну</translation>
    </message>
    <message>
        <source>Dedicated</source>
        <translation>Целиком</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>По-своему</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Набор</translation>
    </message>
    <message>
        <source>Preset:</source>
        <translation>Готовый набор:</translation>
    </message>
    <message>
        <source>When to train</source>
        <translation>Когда обучать</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>Обучать</translation>
    </message>
    <message>
        <source>Use the graphics card</source>
        <translation>Использовать видеокарту</translation>
    </message>
    <message>
        <source>Train while somebody uses the computer</source>
        <translation>Обучать, пока за компьютером кто-то работает</translation>
    </message>
    <message>
        <source>Use the graphics card then too</source>
        <translation>Использовать тогда и видеокарту</translation>
    </message>
    <message>
        <source>It is not in use after so long without input</source>
        <translation>Компьютер свободен, если ввода нет</translation>
    </message>
    <message>
        <source>Train on battery</source>
        <translation>Обучать от батареи</translation>
    </message>
    <message>
        <source>… but only above this charge</source>
        <translation>… но только при заряде выше</translation>
    </message>
    <message>
        <source>Train while a program fills the screen</source>
        <translation>Обучать в полноэкранном режиме</translation>
    </message>
    <message>
        <source>Never beside these programs, by name, with commas between:</source>
        <translation>Никогда вместе с этими программами (имена через запятую):</translation>
    </message>
    <message>
        <source>blender, steam</source>
        <translation>blender, steam</translation>
    </message>
    <message>
        <source>Train only in these hours of the week</source>
        <translation>Обучать только в эти часы недели</translation>
    </message>
    <message>
        <source>How much of this computer</source>
        <translation>Сколько от этого компьютера</translation>
    </message>
    <message>
        <source>Share of the processor while it is in use</source>
        <translation>Доля процессора, когда компьютер занят</translation>
    </message>
    <message>
        <source>Share of the processor otherwise</source>
        <translation>Доля процессора в остальное время</translation>
    </message>
    <message>
        <source>Never more processor threads than</source>
        <translation>Потоков процессора не больше</translation>
    </message>
    <message>
        <source>Share of the memory while it is in use</source>
        <translation>Доля памяти, когда компьютер занят</translation>
    </message>
    <message>
        <source>Share of the memory otherwise</source>
        <translation>Доля памяти в остальное время</translation>
    </message>
    <message>
        <source>Of it, for parts of large models, at most</source>
        <translation>Из неё на части больших моделей не более</translation>
    </message>
    <message>
        <source>Share of the graphics card&apos;s memory</source>
        <translation>Доля памяти видеокарты</translation>
    </message>
    <message>
        <source>Pause when it is hotter than</source>
        <translation>Пауза, если горячее</translation>
    </message>
    <message>
        <source>Disk space for models and data</source>
        <translation>Место на диске для моделей и данных</translation>
    </message>
    <message>
        <source>Disk space that is always left free</source>
        <translation>Всегда оставлять свободным на диске</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Сеть</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Прочее</translation>
    </message>
    <message>
        <source>Use the network</source>
        <translation>Использовать сеть</translation>
    </message>
    <message>
        <source>Send at most</source>
        <translation>Отправлять не больше</translation>
    </message>
    <message>
        <source>Receive at most</source>
        <translation>Принимать не больше</translation>
    </message>
    <message>
        <source>In a month, both ways, at most</source>
        <translation>За месяц в обе стороны не больше</translation>
    </message>
    <message>
        <source>A month of data begins on day</source>
        <translation>Месяц данных начинается с дня</translation>
    </message>
    <message>
        <source>Ask the router to let calls of other volunteers through</source>
        <translation>Просить маршрутизатор пропускать обращения других участников</translation>
    </message>
    <message>
        <source>Pass on what computers behind routers say to each other, at most</source>
        <translation>Передавать разговоры компьютеров за маршрутизаторами, не больше</translation>
    </message>
    <message>
        <source>Use the network only in these hours of the week</source>
        <translation>Использовать сеть только в эти часы недели</translation>
    </message>
    <message>
        <source>Newer versions of Starling</source>
        <translation>Новые версии Starling</translation>
    </message>
    <message>
        <source>Look for them once a day</source>
        <translation>Проверять раз в день</translation>
    </message>
    <message>
        <source>Install them between two rounds, unless the system does that</source>
        <translation>Устанавливать между раундами, если этого не делает система</translation>
    </message>
    <message>
        <source>You should not notice it: at most half of the processor while you work, the graphics card only when you are away, nothing on battery, on a metered connection such as a phone&apos;s, or during full screen.</source>
        <translation>Вы ничего не заметите: не больше половины процессора, пока вы работаете; видеокарта – только когда вас нет; ничего от батареи, при лимитном подключении (например, через телефон) и в полноэкранном режиме.</translation>
    </message>
    <message>
        <source>Three quarters of the processor while you work and all of it when you are away; nothing on battery, on a metered connection such as a phone&apos;s, or during full screen.</source>
        <translation>Три четверти процессора, пока вы работаете, и весь, когда вас нет; ничего от батареи, при лимитном подключении (например, через телефон) и в полноэкранном режиме.</translation>
    </message>
    <message>
        <source>For a computer that has little else to do: all of it, all the time, on battery too; nothing on a metered connection such as a phone&apos;s.</source>
        <translation>Для компьютера, у которого мало других дел: целиком и всё время, от батареи тоже; ничего при лимитном подключении (например, через телефон).</translation>
    </message>
    <message>
        <source>Use a metered connection, such as a phone&apos;s</source>
        <translation>Использовать лимитное подключение, например через телефон</translation>
    </message>
</context>
<context>
    <name>starling::widgets::ReadyPage</name>
    <message>
        <source>Ready</source>
        <translation>Всё готово</translation>
    </message>
    <message>
        <source>Nothing has been sent yet. It begins with the button below.</source>
        <translation>Пока ничего не отправлено. Начало – по кнопке внизу.</translation>
    </message>
    <message>
        <source>Start training</source>
        <translation>Начать обучение</translation>
    </message>
    <message>
        <source>This computer joins %1 as %2, with the limits “%3”.</source>
        <translation>Этот компьютер вступает в проект %1 под именем %2 с пределами «%3».</translation>
    </message>
</context>
<context>
    <name>starling::widgets::RunPage</name>
    <message>
        <source>Computing gradients on this computer&apos;s samples</source>
        <translation>Вычисляются градиенты на примерах этого компьютера</translation>
    </message>
    <message>
        <source>Averaging with the group</source>
        <translation>Усреднение с группой</translation>
    </message>
    <message>
        <source>Applying the averaged gradient to the model</source>
        <translation>Усреднённый градиент применяется к модели</translation>
    </message>
    <message>
        <source>Downloading the model from other volunteers</source>
        <translation>Загружается модель от других участников</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Пауза</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Ожидание</translation>
    </message>
    <message>
        <source>contributes; cannot be called</source>
        <translation>вносит вклад; к нему нельзя обратиться</translation>
    </message>
    <message>
        <source>averages for others</source>
        <translation>усредняет для других</translation>
    </message>
    <message>
        <source>contributes; gets the result later</source>
        <translation>вносит вклад; получает результат позже</translation>
    </message>
    <message>
        <source>contributes and averages a part</source>
        <translation>вносит вклад и усредняет часть</translation>
    </message>
    <message>
        <source>Computer</source>
        <translation>Компьютер</translation>
    </message>
    <message>
        <source>Samples last round</source>
        <translation>Примеров в раунде</translation>
    </message>
    <message>
        <source>Part of the model, %</source>
        <translation>Часть модели, %</translation>
    </message>
    <message>
        <source>Connection</source>
        <translation>Связь</translation>
    </message>
    <message>
        <source>What it does</source>
        <translation>Что делает</translation>
    </message>
    <message>
        <source>Samples of this computer by round</source>
        <translation>Примеры этого компьютера по раундам</translation>
    </message>
    <message>
        <source>Progress of the round</source>
        <translation>Ход раунда</translation>
    </message>
    <message>
        <source>rounds done here since the start</source>
        <translation>раундов здесь с запуска</translation>
    </message>
    <message>
        <source>samples a second, here</source>
        <translation>примеров в секунду здесь</translation>
    </message>
    <message>
        <source>samples a second, all together</source>
        <translation>примеров в секунду вместе</translation>
    </message>
    <message>
        <source>upload, measured</source>
        <translation>отправка, измерено</translation>
    </message>
    <message>
        <source>download, measured</source>
        <translation>приём, измерено</translation>
    </message>
    <message>
        <source>Computers of the last averaging, by pseudonym</source>
        <translation>Компьютеры последнего усреднения, по псевдонимам</translation>
    </message>
    <message>
        <source>Round %1: %2</source>
        <translation>Раунд %1: %2</translation>
    </message>
    <message>
        <source>%1 samples: enough for the round; %2 by this computer</source>
        <translation>%1 примеров: на раунд хватает; отсюда %2</translation>
    </message>
    <message>
        <source>%1 of %2 samples, %3 by this computer</source>
        <translation>%1 из %2 примеров, %3 отсюда</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) lost</source>
        <translation>
            <numerusform>%n раунд потерян</numerusform>
            <numerusform>%n раунда потеряно</numerusform>
            <numerusform>%n раундов потеряно</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 (this computer)</source>
        <translation>%1 (этот компьютер)</translation>
    </message>
    <message>
        <source>over a relay</source>
        <translation>через посредника</translation>
    </message>
    <message>
        <source>direct</source>
        <translation>напрямую</translation>
    </message>
    <message>
        <source>From here, Mbit/s</source>
        <translation>Отсюда, Мбит/с</translation>
    </message>
    <message>
        <source>To here, Mbit/s</source>
        <translation>Сюда, Мбит/с</translation>
    </message>
    <message>
        <source>Round trip, ms</source>
        <translation>Туда и обратно, мс</translation>
    </message>
    <message>
        <source>contributes</source>
        <translation>вносит вклад</translation>
    </message>
    <message>
        <source>Measuring the model on data it has not seen</source>
        <translation>Модель проверяется на незнакомых данных</translation>
    </message>
    <message>
        <source>The graphics card is not used: %1</source>
        <translation>Видеокарта не используется: %1</translation>
    </message>
</context>
<context>
    <name>starling::widgets::SelfTestDialog</name>
    <message>
        <source>Stop</source>
        <translation>Остановить</translation>
    </message>
    <message>
        <source>Test again</source>
        <translation>Проверить ещё раз</translation>
    </message>
    <message>
        <source>Test for ten minutes</source>
        <translation>Проверить десять минут</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Закрыть</translation>
    </message>
    <message>
        <source>Test of this computer</source>
        <translation>Проверка этого компьютера</translation>
    </message>
    <message>
        <source>How far the test is</source>
        <translation>Ход проверки</translation>
    </message>
    <message>
        <source>Testing this computer…</source>
        <translation>Компьютер проверяется…</translation>
    </message>
    <message>
        <source>It takes about half a minute.</source>
        <translation>Это займёт около полминуты.</translation>
    </message>
    <message>
        <source>It takes about ten minutes.</source>
        <translation>Это займёт около десяти минут.</translation>
    </message>
    <message>
        <source>It computes something with a known answer again and again, and looks at memory that is free. Training may go on meanwhile.</source>
        <translation>Снова и снова вычисляется то, на что ответ известен, и проверяется свободная память. Обучение может идти дальше.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Запуск…</translation>
    </message>
</context>
<context>
    <name>starling::widgets::StatsPage</name>
    <message>
        <source>Samples</source>
        <translation>Примеры</translation>
    </message>
    <message>
        <source>Credit, in all</source>
        <translation>Очки, всего</translation>
    </message>
    <message>
        <source>Training loss</source>
        <translation>Ошибка обучения</translation>
    </message>
    <message>
        <source>Averaging traffic, MB</source>
        <translation>Трафик усреднения, МБ</translation>
    </message>
    <message>
        <source>The last 24 hours</source>
        <translation>Последние 24 часа</translation>
    </message>
    <message>
        <source>The last 30 days</source>
        <translation>Последние 30 дней</translation>
    </message>
    <message>
        <source>All time</source>
        <translation>Всё время</translation>
    </message>
    <message>
        <source>Stretch of time</source>
        <translation>Отрезок времени</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>примеров</translation>
    </message>
    <message>
        <source>credit</source>
        <translation>очков</translation>
    </message>
    <message>
        <source>rounds</source>
        <translation>раундов</translation>
    </message>
    <message>
        <source>averaging traffic</source>
        <translation>трафик усреднения</translation>
    </message>
</context>
<context>
    <name>starling::widgets::TeamBox</name>
    <message>
        <source>Join this team</source>
        <translation>Вступить в эту команду</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>Выйти из команды</translation>
    </message>
    <message>
        <source>Name of a team</source>
        <translation>Название команды</translation>
    </message>
    <message>
        <source>That did not work: %1</source>
        <translation>Не получилось: %1</translation>
    </message>
    <message>
        <source>You are in no team. Teams count together what their members contribute.</source>
        <translation>Вы не состоите в команде. Команды складывают вклад своих участников.</translation>
    </message>
    <message numerus="yes">
        <source>&lt;b&gt;%1&lt;/b&gt;, founded by %2: %n member(s), %3 credit</source>
        <translation>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;, основана участником %2: %n участник, очков: %3</numerusform>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;, основана участником %2: %n участника, очков: %3</numerusform>
            <numerusform>&lt;b&gt;%1&lt;/b&gt;, основана участником %2: %n участников, очков: %3</numerusform>
        </translation>
    </message>
    <message>
        <source>, number %1 of the teams</source>
        <translation>, место среди команд: %1</translation>
    </message>
    <message>
        <source>Its page</source>
        <translation>Её страница</translation>
    </message>
    <message>
        <source>Found a new team</source>
        <translation>Основать новую</translation>
    </message>
</context>
<context>
    <name>starling::widgets::WeekGrid</name>
    <message>
        <source>Drag to switch hours; with the keyboard, arrows move and space switches</source>
        <translation>Проведите мышью, чтобы переключить часы; с клавиатуры: стрелки двигают, пробел переключает</translation>
    </message>
    <message>
        <source>allowed</source>
        <translation>разрешено</translation>
    </message>
    <message>
        <source>not allowed</source>
        <translation>не разрешено</translation>
    </message>
    <message>
        <source>%1, %2 o&apos;clock: %3. In all: %4</source>
        <translation>%1, %2 ч: %3. Всего: %4</translation>
    </message>
</context>
<context>
    <name>starling::widgets::YouPage</name>
    <message>
        <source>You</source>
        <translation>Вы</translation>
    </message>
    <message>
        <source>The name under which your contribution is counted. It need not be your own.</source>
        <translation>Имя, под которым считается ваш вклад. Оно не обязано быть настоящим.</translation>
    </message>
    <message>
        <source>Name on the leaderboard</source>
        <translation>Имя в таблице участников</translation>
    </message>
    <message>
        <source>Everybody can see it on the project&apos;s leaderboard.</source>
        <translation>Оно видно всем в таблице участников проекта.</translation>
    </message>
    <message>
        <source>I have an account there, or want one to log in to</source>
        <translation>У меня там есть учётная запись, или я хочу её создать</translation>
    </message>
    <message>
        <source>Name on the leaderboard:</source>
        <translation>Имя в таблице участников:</translation>
    </message>
    <message>
        <source>Password</source>
        <translation>Пароль</translation>
    </message>
    <message>
        <source>E-mail address, for a new account</source>
        <translation>Адрес электронной почты для новой учётной записи</translation>
    </message>
    <message>
        <source>may be left empty</source>
        <translation>можно не указывать</translation>
    </message>
    <message>
        <source>Password:</source>
        <translation>Пароль:</translation>
    </message>
    <message>
        <source>E-mail address:</source>
        <translation>Электронная почта:</translation>
    </message>
    <message>
        <source>If the name above is that of your account, its password adds this computer to it. If nobody has the name yet, an account is made with this password; the address is for the day on which you forget it, and only the project sees it.</source>
        <translation>Если имя выше – имя вашей учётной записи, её пароль добавит к ней этот компьютер. Если такого имени ещё ни у кого нет, будет создана учётная запись с этим паролем; адрес пригодится, если вы его забудете, и виден только проекту.</translation>
    </message>
</context>
</TS>
