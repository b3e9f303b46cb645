"""Rare ways of hiding a sentence, and common ones of showing it that use the same means.

Chromium paints nothing legible of any of the first.
"""

from __future__ import annotations

from bench.redteam.hidden_text_case import Case, bodies, inline, sheets

_SVG = '<svg width=0 height=0 style="position:absolute">'


def _twice(style: str) -> str:
    return f'<div style="{style}"><div style="{style}"><p>SENTENCE</p></div></div>'


RARE_HIDING: tuple[Case, ...] = (
    *inline(
        "filter:brightness(0) invert(1)",
        "filter:contrast(0) brightness(2)",
        'clip-path:path("M0 0")',
        'clip-path:path("M-9 -9h5v5z")',
        "clip-path:polygon(-10px -10px,-5px -10px,-5px -5px)",
        "clip-path:shape(from 0 0,line to 0 0,close)",
        "clip-path:circle(5px at -100px -100px)",
        "transform:skewX(90deg)",
        "position:fixed;bottom:110%",
        "padding-left:200vw;white-space:nowrap;overflow:hidden;width:10px",
        "contain:size;overflow:hidden",
        "contain:paint;height:0",
        "line-height:0;height:auto;overflow:auto",
        "display:grid;grid-template-rows:0;overflow:hidden",
        "font-size-adjust:0",
        "opacity:sign(0)",
        "opacity:round(0.2,1)",
        "opacity:mod(2,2)",
        "opacity:progress(0,0,1)",
        "opacity:calc(sibling-index()*0)",
        "opacity:env(x,0)",
        "opacity:attr(data-x number,0)",
        "display:attr(data-d type(*),none)",
        "opacity:if(media(print): 1; else: 0)",
        "height:calc-size(auto,0px);overflow:hidden",
        "animation:a 1s infinite;opacity:0",
        "color:color-mix(in srgb,white,transparent)",
        "color:color-mix(in srgb,currentcolor 0%,transparent)",
        "color:contrast-color(black)",
        "color:color(xyz 0.9505 1 1.089)",
        "-webkit-background-clip:text;color:transparent",
        "box-shadow:inset 0 0 0 999px #000;color:#000",
        "border-image:linear-gradient(#000,#000) 1 fill;color:#000",
        "-webkit-text-stroke:30px #fff",
        "-webkit-text-stroke:30px #fff;paint-order:normal",
        "mask-image:url(data:,)",
        "mask-image:linear-gradient(#000,#000);mask-mode:luminance",
        "mask-image:linear-gradient(to right,transparent 100%,#000)",
        "mask-image:linear-gradient(#000,#000),linear-gradient(#000,#000);mask-composite:exclude",
        'offset:path("M-9999 -9999")',
        'offset-path:path("M-9999,-9999 L-9998,-9999");offset-distance:0',
        "offset-path:ray(180deg);offset-distance:9999px",
        "letter-spacing:-1em;text-indent:-99px",
        "content:url(data:,)",
    ),
    *sheets(
        "@keyframes k{from,to{opacity:0}}.note{animation:k 1s forwards}",
        "@keyframes k{to{visibility:hidden}}.note{animation:k 0s forwards}",
        ".note::first-line{color:transparent}",
        ".note::first-line{font-size:0}",
        "@container (width > 1px){.note{display:none}}section{container-type:inline-size}",
        '@property --n{syntax:"*";inherits:false;initial-value:none}.note{display:var(--n)}',
        '@import url("data:text/css,.note{display:none}");',
        "@scope(.note){:scope{display:none}}",
        ".note:lang(en){display:none}",
        ".note{clip-path:var(--u,inset(100%))}",
    ),
    *bodies(
        '<table><col style="visibility:collapse"><tr><td>SENTENCE</td><td>b</td></tr></table>',
        _twice("filter:opacity(.1)"),
        _twice("transform:scale(.1)"),
        _twice("zoom:.1"),
        "<div><template shadowrootmode=open><p>shown</p></template><p>SENTENCE</p></div>",
        f"{_SVG}<filter id=z><feFlood flood-opacity=0 /></filter></svg>"
        '<p style="filter:url(#z)">SENTENCE</p>',
        f'{_SVG}<clipPath id=z></clipPath></svg><p style="clip-path:url(#z)">SENTENCE</p>',
        "<math><mphantom><mtext>SENTENCE</mtext></mphantom></math>",
        "<math><mtext mathcolor=white>SENTENCE</mtext></math>",
    ),
)

RARE_SHOWING: tuple[Case, ...] = (
    *inline(
        "filter:brightness(.9) contrast(1.1)",
        "filter:invert(1);background:#fff;color:#000",
        "filter:drop-shadow(1px 1px 2px #888)",
        'clip-path:path("M0 0H900V900H0z")',
        "clip-path:polygon(0 0,100% 0,100% 100%,0 95%)",
        "clip-path:circle(600px at 100px 20px)",
        "transform:skewX(-10deg)",
        "position:fixed;bottom:20px",
        "padding-left:40px;overflow:hidden",
        "contain:content",
        "line-height:0",
        "display:grid;grid-template-rows:auto 1fr;overflow:hidden",
        "font-size-adjust:.5",
        "opacity:min(.9,1)",
        "opacity:env(safe-area-x,1)",
        "padding-top:env(safe-area-inset-top,20px)",
        "color:color-mix(in srgb,black 80%,white)",
        "color:color-mix(in srgb,currentcolor 80%,transparent)",
        "color:contrast-color(white)",
        "color:color(xyz .1 .1 .1)",
        "box-shadow:inset 0 0 0 1px #000",
        "box-shadow:0 0 40px 40px #000",
        "border-image:linear-gradient(#000,#000) 1",
        "-webkit-text-stroke:1px #fff",
        "mask-image:linear-gradient(#000 60%,transparent)",
        "mask-image:linear-gradient(#fff,#fff);mask-mode:luminance",
        "letter-spacing:-.1em",
        "content:normal",
        "color:var(--unset,rgb(0 0 0 / 1))",
        "zoom:.9",
    ),
    *sheets(
        "@keyframes k{from{opacity:0}to{opacity:1}}.note{animation:k 0s forwards;opacity:0}",
        "@keyframes k{50%{opacity:0}}.note{animation:k 1s}",
        ".note::first-line{color:red}",
        "@container (width > 9000px){.note{display:none}}section{container-type:inline-size}",
        '@property --n{syntax:"*";inherits:false;initial-value:block}.note{display:var(--n)}',
        "@scope(.box){:scope{color:red}}",
    ),
    *bodies(
        '<table><col><col style="visibility:collapse"><tr><td>SENTENCE</td><td>b</td></tr></table>',
        '<div style="zoom:.8"><div style="transform:scale(.8)"><p>SENTENCE</p></div></div>',
        "<div><template shadowrootmode=open><p>x</p><slot></slot></template><p>SENTENCE</p></div>",
    ),
)
