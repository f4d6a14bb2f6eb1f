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
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
ONE_LEAF = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "title"))
ONE_LEAF_IF_SHORT = frozenset(("li", "td", "th", "dt", "dd", "caption", "summary", "figcaption", "legend"))
SAME_AS = {"dir": "ul", "menu": "ul", "listing": "pre", "xmp": "pre", "plaintext": "pre"}

# Blocks without a meaning of their own: they part the text, and their children become their parent's.
WRAPPERS = frozenset("html body div center hgroup dialog search noframes optgroup".split())

# Not content, or nothing that can be read.
DROPPED = frozenset(
    """
    script style template noscript head meta link base svg iframe object embed applet canvas audio video img
    picture source track map area input button select textarea datalist option progress meter colgroup col
    frameset frame annotation annotation-xml param rt rp
    """.split()
)

# Inline tags that a sentence keeps.
KEPT_INLINE = frozenset(
    """
    a abbr b bdi bdo cite code del dfn em i ins kbd mark q s samp small strong sub sup time u var
    """.split()
)
INLINE_AS = {"acronym": "abbr", "tt": "code", "strike": "s", "big": "b"}
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
