"""What the tags of HTML are to the tree: blocks, inline markup, or nothing that is read."""

# Blocks that become nodes. Those that hold sentences directly come first; the others wrap loose text in a paragraph.
SENTENCE_HOLDERS = frozenset(
    "p h1 h2 h3 h4 h5 h6 li td th dt dd caption summary figcaption pre legend address title".split()
)
CONTAINERS = frozenset(
    """
    ul ol dl table thead tbody tfoot tr blockquote figure details section article nav aside header footer main
    form fieldset hr
    """.split()
)
BLOCKS = SENTENCE_HOLDERS | CONTAINERS
CELLS = ("td", "th")
ROW_GROUPS = ("thead", "tbody", "tfoot")
LISTS = ("ul", "ol", "dl")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
ONE_LEAF = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "title"))
ONE_LEAF_IF_SHORT = frozenset(("li", "td", "th", "dt", "dd", "caption", "summary", "figcaption", "legend"))
SAME_AS = {
    "dir": "ul",
    "menu": "ul",
    "listing": "pre",
    "xmp": "pre",
    "plaintext": "pre",
    "acronym": "abbr",
    "tt": "code",
    "strike": "s",
    "big": "b",
}

# Blocks without a meaning of their own: they part the text, and their children become their parent's.
# (libxml2 leaves tags that it does not know, such as main, in the head of a page that does not write its body.)
WRAPPERS = frozenset("html head body div center hgroup dialog search noframes optgroup".split())

# Not content, or nothing that can be read.
DROPPED_TAGS = frozenset(
    """
    script style template noscript meta link base svg iframe object embed applet canvas audio video img
    picture source track map area datalist option progress meter colgroup col frameset frame annotation
    annotation-xml param rt rtc rp
    """.split()
)
FORM_FIELDS = frozenset("input button select textarea".split())

# Inline tags that a sentence keeps.
KEPT_INLINE = frozenset(
    """
    a abbr b bdi bdo cite code del dfn em i ins kbd mark q s samp small strong sub sup time u var
    """.split()
)
NO_PROSE = frozenset(("code", "kbd", "samp", "var", "time", "abbr", "sub", "sup"))
KEPT_INLINE_ATTRIBUTES = {"abbr": ("title",), "dfn": ("title",), "time": ("datetime",), "bdo": ("dir",)}
KEPT_ATTRIBUTES = {
    "ol": ("start", "reversed", "type"),
    "li": ("value",),
    "td": ("colspan", "rowspan", "headers"),
    "th": ("colspan", "rowspan", "headers", "scope"),
    "table": ("role",),
}
SAFE_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))
# The mark that documentation generators put beside each heading as a link to itself.
SELF_LINK_TEXTS = frozenset(("¶", "#", "§", "\U0001f517", "\uf0c1"))

# What a tag is to the parser. Those from DROPPED on are not read.
TRANSPARENT, INLINE, BLOCK, WRAPPER, BREAK, DROPPED, FORM_FIELD, MATHEMATICS = range(8)
KINDS = {
    **dict.fromkeys(("span", "font", "label", "nobr", "wbr", "ruby", "rb"), TRANSPARENT),
    **dict.fromkeys(KEPT_INLINE, INLINE),
    **dict.fromkeys(BLOCKS, BLOCK),
    **dict.fromkeys(WRAPPERS, WRAPPER),
    "br": BREAK,
    **dict.fromkeys(DROPPED_TAGS, DROPPED),
    **dict.fromkeys(FORM_FIELDS, FORM_FIELD),
    "math": MATHEMATICS,
}

# Tags without a meaning of their own, to which an ARIA role gives one.
NEUTRAL = frozenset("div span p center font section".split())
TAG_OF_ROLE = {
    "article": "article",
    "banner": "header",
    "blockquote": "blockquote",
    "caption": "caption",
    "cell": "td",
    "complementary": "aside",
    "contentinfo": "footer",
    "figure": "figure",
    "grid": "table",
    "gridcell": "td",
    "list": "ul",
    "listitem": "li",
    "main": "main",
    "navigation": "nav",
    "paragraph": "p",
    "row": "tr",
    "rowgroup": "tbody",
    "separator": "hr",
    "table": "table",
    "treegrid": "table",
}


def kind_of(tag: str) -> int:
    """What a tag is to the parser; one that nobody knows is transparent."""
    return KINDS.get(tag, TRANSPARENT)
