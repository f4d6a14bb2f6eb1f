"""Words that stand before a stop which ends no sentence, and words that begin one, for each language."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Language(NamedTuple):
    """What the sentences of a language need to be known by; all words in small letters, without their last stop."""

    before_name: frozenset[str]
    """Never end a sentence: titles, "e.g", "vgl"."""
    before_number: frozenset[str]
    """End none before a number: "no", "fig", "art" are words as well."""
    may_end: frozenset[str]
    """End one only where the next word begins one: "p.m", "inc", "usw"."""
    beginnings: frozenset[str]
    """Words that begin sentences, and are written small inside them."""
    before_ordinal: frozenset[str] | None
    """Where a number with a stop is an ordinal ("der 2. Weltkrieg"): the words that one follows. None elsewhere."""
    nouns_are_capital: bool


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Of all languages, as long as the word is none in another: pages often declare no language, or a wrong one.
BEFORE_NAME = _words(
    """
    e.g i.e viz cf vs approx ca incl excl esp dept univ assn gov sen rep hon rev mr mrs ms messrs dr drs prof capt
    cpt cdr col lt sgt maj cmdr adm brig supt eds transl aka a.k.a tr translit
    z.b d.h u.a.m i.d.r i.d.f i.v.m i.s.d i.s.v u.u u.ä o.ä o.g s.o s.u v.a z.t m.e m.w vgl bzw ggf evtl sog
    inkl exkl zzgl abzgl hrsg bgbl rgbl stellv dipl
    p.ex c.-à-d c.à.d mme mmes mlle mlles
    p.ej ee sra dra srta sres srs d.ª dña uds vds excmo ilmo
    m.in tj tzn tzw inż mgr hab św zob zał dz.u
    tzv např mudr judr paeddr phdr rndr mjr
    dvs t.ex bl.a f.eks d.v.s fx
    dhr mevr bijv d.w.z o.a m.b.t i.p.v t.o.v
    dott dott.ssa sig.ra avv profa exmo exma
    т.е т.н т.к г-н г-жа проф доц акад им ул пр пл обл напр см ср тов инж с
    डॉ प्रो श्री कु श्रीमती सुश्री पं न्या ए बी सी डी ई एफ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू
    डब्लू एक्स वाई जेड
    د أ أ.د ت ش
    δρ κ κα καθ π.χ δηλ βλ
    น
    """
)
BEFORE_NUMBER = _words(
    """
    abb abs app art arts bd ch chap eq eqs ex ext fig figs max min no nos nr op p par para paras pos pp pt ref refs
    sec secs sect st str tab tel vol vols lit reg sched cl § §§ jan feb mar apr jun jul aug sep sept oct nov dec c cca
    fl ver v est
    ziff rn rz kap anm teil okt dez mrz lfd hs fn ss n f
    pag pág págs cap núm núms n.º apdo
    rozdz ud godz poz pkt ust tabl rys wyd
    č čl odst kl s sid avd
    гл рис табл стр ст п пп т д корп кв тел
    पृ सं रु क्र
    ص ج ط م رقم
    σελ αρ άρθρ
    """
)
MAY_END = _words(
    """
    a.m p.m b.c a.d b.c.e c.e u.s u.k u.n e.u u.s.a d.c ph.d m.d b.a m.a b.sc m.sc m.phil d.phil ll.b ll.m ed.d j.d
    m.b.a inc ltd corp co bros llc jr sr esq st ave blvd rd mt ft al yahoo! yum! jeopardy!
    usw u.a ff chr n.chr v.chr mio mrd tsd std jh jhd jhdt e.v z.z i.r a.a.o u.s.w
    s.a s.l s.a.s s.r.l a.c j.-c av.j.-c ap.j.-c ee.uu aa.vv c.v s.p.a cía s.r.o a.s
    tys o.o n.e p.n.e f.kr e.kr
    г гг в вв тыс млн млрд руб др н.э
    هـ ق.م ب.م
    π.μ μ.μ κ.λπ κ.ά
    """
)

# What is a word, or a measure, in other languages.
OWN_BEFORE_NAME = {
    "en": "v gen ed",
    "de": "s st fr hr frl abt bes insb ev kath allg bayer österr jun mag ing gem geb verh abl z n",
    "fr": "m st av ste ex mm me mgr env",
    "es": "d sr ud vd st sto sta av lic arq ing gral",
    "it": "sig on arch ing prov art",
    "pt": "d v sr ex av",
    "nl": "st nl drs ing",
    "pl": "np ul al os im ks bp woj pow gm wg ok por pl ww pt ds o n gen mec red",
    "cs": "sv st ing tj mjr plk pí",
    "sk": "sv st ing tj napr",
    "sv": "s st ev ca",
    "da": "s st ca hr fr",
}
OWN_MAY_END = {"pl": "r w", "cs": "r n.l př", "de": "str min sek tel", "sv": "kr st", "da": "kr"}

BEGINNINGS = {
    "en": """
        a about above according additionally after again all along already also although an and another any anyone
        are as at based because been before below besides between both but by can could did do does during each
        earlier either even eventually every
        everyone few finally first following for from further furthermore had has have he her here his how however i
        if in indeed initially instead is it its just last later like many meanwhile more moreover most much my near
        nearly neither never
        nevertheless next no none nor not nothing now of often on once one only or other others our out over people
        perhaps please previously rather second several she should similarly since so some someone sometimes soon
        still such than thank that the
        their then there therefore these they this those though three through throughout thus to today together two
        under unfortunately unless unlike until upon use using usually was we were what whatever when where whereas
        whether which while who whose why will
        with within without would yes yet you your
        """,
    "de": """
        ab aber alle allein allerdings alles als also am an andere andererseits anschließend auch auf aufgrund aus
        außerdem bei beide beim bereits bis bitte da dabei dadurch dafür dagegen daher damals damit danach daneben
        dann daran darauf daraus darin darüber
        darum darunter das dass davon davor dazu dem den denn der derzeit des deshalb dessen deswegen die dies diese
        diesem diesen dieser dieses doch dort du durch eben ebenso ein eine einem einen einer eines einige er erst
        es etwa falls fast für ganz gegen gibt hat
        heute hier hierbei hierfür hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in insbesondere
        insgesamt inzwischen ist ja jede jedem jeden jeder jedes jedoch jetzt kann kein keine keinem keinen keiner
        können laut man manche manchmal mehr mehrere mein
        meine meist meistens mit muss müssen nach nachdem neben nein nicht nie niemand noch nun nur ob obwohl oder oft
        ohne schließlich schon sehr sein seine seinem seinen seiner seit seitdem sich sie sind so sobald sofern
        sogar solche solange somit sondern sonst
        sowohl später statt stattdessen trotz trotzdem über überdies um und unser unsere unter viele vielleicht vom
        von vor vorher während wann war waren warum was weder wegen weil weitere welche wem wen wenn wer werden
        weshalb wie wieder wir wird wo wobei
        wurde wurden zu zudem zuerst zuletzt zum zunächst zur zusätzlich zwar zwischen
        """,
    "fr": """
        a ainsi afin alors après au aucun aucune aujourd aussi autre autres aux avant avec beaucoup bien c ce cela
        celle celui cependant ces cet cette ceux chacun chaque chez ci comme comment d dans de depuis des dès donc
        du durant elle elles en encore enfin ensuite
        entre est et il ils j je l la là le les leur leurs lors lorsqu lorsque ma mais malgré même mes moi mon n ne ni
        non nos notre nous on or où ou outre par parce parfois parmi pendant personne peu plus plusieurs pour
        pourquoi pourtant puis puisque qu quand quant
        que quel quelle quelques qui quoi sa sans sauf se selon ses seul si son sont sous souvent sur t ta tandis tant
        te tel tous tout toute toutefois toutes très trop tu un une vers veuillez voici voilà vos votre vous y
        """,
    "es": """
        a actualmente además ahora al algo algún alguna algunas alguien algunos ante antes aquel aquella aquí así aún
        aunque bajo cada casi como cómo con cuál cuando cuándo cuanto cuya cuyo de debe del desde después donde
        dónde durante e el él ella ellas ellos
        en entonces entre era es esa esas ese eso esos esta está estaba estas este esto estos estoy fue fueron ha
        había hace han hasta hay hoy incluso la las le les lo los luego más me mi mientras mis mucho muchas muchos
        muy nada nadie ni ningún ninguna no nos
        nosotros nuestra nuestro nunca o otra otras otro otros para pero poco por porque primero pues que qué quien
        quién quienes se según ser si sí sin sino sobre solo sólo son su sus también tampoco tan tanto te tiene
        todas todavía todo todos tras tu tus un una unas
        unos usted ustedes y ya yo
        """,
    "it": """
        a adesso ai al alcuni alcune alla alle allo allora altri anche ancora anzi appena attualmente c che chi ci ciò
        come con così cosa cui d da dai dal dalla dalle degli dei del della delle dello di dopo dove dunque durante
        e è ecco ed era essa esse essi fino fra fu
        gli ha hanno i il in infatti infine inoltre invece io l la le lei lo loro lui ma mentre mi molte molti nei nel
        nella nelle nessuno noi non nonostante nostra nostro o ogni oggi ogni oltre ora per perché però più poi
        poiché prima pur quale quali quando quanto
        quasi quella quelle quelli quello questa queste questi questo qui quindi se secondo sembra sempre senza si sia
        sono sopra sotto su sua sui sul sulla sulle suo tra tu tutta tutte tutti tutto tuttavia un una uno vi voi
        """,
    "pt": """
        a à ainda além alguém algum alguma alguns antes ao aos apenas após aquela aquele aqui as às assim até cada com
        como contudo da das de depois desde do dos durante e é ela elas ele eles em embora enquanto então entre era
        essa essas esse esses esta está estas este
        estes eu foi foram há hoje isso isto já lhe mais mas mesmo muitas muito muitos na nada não nas nem nenhum
        nenhuma no nos nós nossa nosso num numa nunca o onde os ou outra outras outro outros para pela pelas pelo
        pelos por porém porque portanto pouco primeiro
        quais qual quando quanto quase que quem se segundo seja sem sempre ser seu seus só sob sobre sua suas também
        tanto tem toda todas todo todos tudo um uma você vocês
        """,
    "nl": """
        aan achter af al alle alleen alles als altijd andere bij bijna daar daarna daarom dan dat de deze die dit door
        doordat dus echter een eerst en enkele er geen had heb hebben heeft het hier hij hoe hun iedere iedereen ik
        in indien is ja je jij kan kunnen later maar
        meer men met mijn moet moeten na naar naast nadat nee niemand niet niets nog nu of om omdat ondanks onder ons
        onze ook op over soms sinds te tegen ten terwijl tijdens toch toen tot tussen u uit uw van vanaf vaak veel
        vervolgens via volgens voor voordat waar
        waarom wanneer wat we wel welke werd wie wij worden wordt zal ze zelfs zich zij zijn zo zodat zoals zonder
        """,
    "pl": """
        a aby ale albo ani aż bez bo był była było były być choć ci co czasem czy czyli dla dlaczego dlatego do
        dopiero dotyczy dziś dzisiaj gdy gdyby gdzie i ich im inne inny ja jak jako jakie jaki je jeden jedna jednak
        jednocześnie jego jej jest jesteśmy
        jeszcze jeśli jeżeli już każda każdy każde kiedy kto która które który lecz lub ma mają mamy mimo może można
        my na nad nadal nam nasz nasza nasze natomiast nic nie niektóre nigdy nikt niż o obecnie od ona one oni ono
        oprócz oraz pan pani po pod podczas
        ponadto ponieważ poza pomimo potem później prosimy proszę przed przede przez przy również są się skąd stąd sam
        swoje ta tak także tam te tego tej ten też to trzeba tu tutaj tych tylko tym u w wkrótce według więc wobec
        wówczas wszyscy wszystkie wszystko
        wtedy wśród z za zarówno ze zaś zatem zawsze zgodnie został została że żaden następnie
        """,
    "cs": """
        a aby ačkoli ale ani asi až bez bude budou by byl byla bylo byly často co či další dále do dnes i já jak jaký
        jako je jeden jedna jedná jeho její jejich jen jestli ještě jinak již jsem jsme jsou k kam kde kdo kdy když
        každý která které který kvůli ma má mají
        mezi mimo může my na nad naopak náš nebo nebyl není nic nikdo nikdy o od on ona oni ovšem pak po pod podle
        pokud poté potom pouze pro proč prosím proto protože před přesto při s se si snad součástí ta tady tak také
        tam takže tato te ten tento to toto tu tuto tyto
        u už v ve však vše všechny všichni vy z za zatímco ze že
        """,
    "sv": """
        alla allt att av bara både de del den denna deras dess dessa det detta där därefter därför då efter eftersom
        ej eller en er ett för från förutom genom ha hade han har hans hela hennes här hon hur i idag ingen inget
        inte innan ja jag kan kanske man med medan
        men mellan mot många mycket måste ni nu nej när någon något några och också om oss på redan sedan senare sin
        ska skulle så sådan som till trots under ut utan vad var vara varför vem vi vid vilka vilken är även över
        """,
    "da": """
        af alle allerede alt at blev både da de den denne der deres derefter derfor derimod det dette dig din disse du
        efter eller en er et for fordi fra før gennem ham han hans har havde her hun hvad hver hvem hvis hvor
        hvordan hvorfor i ifølge igen ikke imod ind ingen
        intet ja jeg kan kun langs man mange med meget mellem men mens mod må nej ni nogle nu når og også om op over
        på selv senere siden skal som stadig så sådan til trods uden ud under var ved vi vil være
        """,
    "ru": """
        а без более был была были было в вам вас ваш ваша весь во вот все всего всё вы где да даже для до его ее её
        если есть еще ещё за здесь и из или им иногда их к каждый как какие какой когда кроме кто ли между меня мне
        много может можно мой мы на над надо наш
        наши не некоторые несмотря нет никто них но ныне о об однако он она они оно от очень перед по под поздее позже
        пока после потом поэтому потому почему при про раз с сам сегодня сейчас сначала со согласно среди так также
        такие такой там тем тогда тоже только
        тот ты у уже хотя чем через что чтобы эта эти это этого этой этот я
        """,
    "tr": """
        ama ancak artık ayrıca bana bazı ben bir biri birçok biz böyle bu buna bunlar bunu burada bütün çok çünkü da
        daha de değil diğer en eğer fakat gibi hangi hem henüz hep hepsi her hiç için ile ilk ise işte kadar kim
        lütfen nasıl ne neden nerede o olarak on ona
        onlar onu orada oysa önce sadece sen siz son sonra şimdi şu tüm ve veya ya yani yine
        """,
}
BEGINNINGS["nb"] = BEGINNINGS["da"] + " etter noen hva hvordan hvorfor dersom"
BEGINNINGS["sk"] = BEGINNINGS["cs"]
BEGINNINGS["uk"] = BEGINNINGS["ru"]
BEGINNINGS["ca"] = BEGINNINGS["gl"] = BEGINNINGS["es"]

BEFORE_ORDINAL = {
    "de": """
        der die das dem den des am vom zum zur im beim ab bis seit jeder jede jedes jeden ein eine einen einem einer
        ihr sein seinem ihrem seinen ihren unser und oder mit auf
        """,
    "pl": "w we na do z ze od po przed za o przez dla i lub oraz",
    "cs": "v ve na do z ze od po před za o k ke pro a nebo dne",
    "sk": "v vo na do z zo od po pred za o k ku pre a alebo dňa",
    "da": "den det de til fra i på og d før efter af",
    "nb": "den det de til fra i på og før etter av",
    "fi": "ja tai",
    "hu": "a az és vagy",
    "hr": "u na do od po i ili za iz s",
    "sr": "u na do od po i ili za iz s",
    "sl": "v na do od po in ali za iz s",
    "et": "ja või",
    "lv": "un vai līdz no",
    "tr": "ve veya",
    "is": "og í á til frá",
}
SAME_AS = {
    "no": "nb",
    "nn": "nb",
    "bs": "hr",
    "iw": "he",
    "gsw": "de",
    "nds": "de",
    "lb": "de",
    "dsb": "cs",
    "hsb": "cs",
}

NUMBERED = _words(
    """
    annex appendix art article chapter clause example exercise figure fig item lesson no note option paragraph part
    phase point question regulation rule sec section sched schedule step table title unit § §§
    abbildung abschnitt anhang anlage artikel beispiel kapitel schritt tabelle teil
    annexe chapitre étape tableau alinéa
    anexo artículo capítulo ejemplo paso sección tabla título figura
    artykuł etap krok rozdział rysunek tabela załącznik
    capitolo articolo passo sezione allegato tabella capítulo artigo hoofdstuk bijlage stap kapitola článek krok
    kapitel bilaga steg المادة الفصل الجدول الشكل धारा अध्याय तालिका अनुच्छेद
    глава статья раздел пункт шаг таблица рисунок
    """
)
"""What a number at the head of a paragraph counts: "Section 5. The owner shall …" is one sentence."""

LETTERED = _words(
    """
    annex appendix area bay block box building bus button case class column desk door drug figure floor form gate
    grade group hall item key letter level line lot model option part phase plan platform point room row schedule
    section series shelf shift side site size stage
    step table team terminal tier track type unit variant version vitamin wing zone
    halle raum typ klasse gruppe gebäude spalte zeile stufe vitamin anlage teil block haus gleis
    salle bâtiment groupe classe type quai porte vitamine annexe bloc sala edificio grupo clase tipo puerta vitamina
    anexo opción sala budynek grupa klasa typ witamina blok wariant peron
    """
)
"""What a letter names: "desk A. Lamps …" are two sentences, "Edgar A. Poe" is one."""

MONTHS = _words(
    """
    january february april june july august september october november december
    januar jänner februar märz mai juni juli oktober dezember
    """
)
"""Before them a number with a stop is a day, in a text of any language."""


YEARS = _words("r г гг")
"""Abbreviations for a year: at the head of a sentence ("W 1990 r. Polska …") more often than not it goes on."""


@cache
def language_named(code: str) -> Language:
    """The words of a language by its code (``de``, ``pt-BR``); what is unknown is read as English."""
    name = code.replace("_", "-").split("-")[0].lower()
    name = SAME_AS.get(name, name)
    ordinals = BEFORE_ORDINAL.get(name)
    return Language(
        before_name=BEFORE_NAME | _words(OWN_BEFORE_NAME.get(name, OWN_BEFORE_NAME["en"])),
        before_number=BEFORE_NUMBER,
        may_end=MAY_END | _words(OWN_MAY_END.get(name, "")),
        beginnings=_words(BEGINNINGS.get(name, BEGINNINGS["en"])),
        before_ordinal=None if ordinals is None else _words(ordinals),
        nouns_are_capital=name == "de",
    )
