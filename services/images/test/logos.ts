/** Ordinary logos, as drawing programs write them, and what they use. */

const SVG = 'xmlns="http://www.w3.org/2000/svg"';

export const LOGOS: Record<string, string> = {
  'gradients that build on each other': `<svg ${SVG} xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 60">
    <defs><linearGradient id="base"><stop offset="0" stop-color="#e11"/><stop offset="1" stop-color="#11e"/></linearGradient>
    <linearGradient id="turned" xlink:href="#base" gradientTransform="rotate(90)"/>
    <radialGradient id="round" cx="50%" cy="50%" r="60%"><stop offset="10%" style="stop-color:#0a0"/><stop offset="1" stop-color="#040" stop-opacity=".5"/></radialGradient></defs>
    <rect width="45" height="60" fill="url(#turned)"/><circle cx="75" cy="30" r="22" fill="url(#round)"/></svg>`,
  'clip paths and masks': `<svg ${SVG} width="80" height="80"><clipPath id="c"><circle cx="40" cy="40" r="30"/></clipPath>
    <mask id="m" maskUnits="userSpaceOnUse" x="0" y="0" width="80" height="80"><rect width="80" height="80" fill="#fff"/><rect x="30" y="30" width="20" height="20" fill="#000"/></mask>
    <g clip-path="url(#c)"><path mask="url(#m)" d="M0 0h80v80H0z" fill="#264"/></g></svg>`,
  'styles in a style sheet': `<?xml version="1.0" encoding="utf-8"?><!-- Generator: Adobe Illustrator 27 -->
    <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
    <svg version="1.1" id="Layer_1" ${SVG} x="0px" y="0px" viewBox="0 0 120 45" style="enable-background:new 0 0 120 40;" xml:space="preserve">
    <style type="text/css"><![CDATA[ .st0{fill:#D71920;} .st1,.st2{fill-rule:evenodd;clip-rule:evenodd;} #word > .st2 {fill:#231F20;stroke:#fff;stroke-width:.5} g rect{opacity:.8} ]]></style>
    <g><rect class="st0" x="5" y="5" width="30" height="30"/></g><g id="word"><path class="st1 st2" d="M45,5h70v30H45V5z M55,12v16h50V12H55z"/></g></svg>`,
  'symbols and uses': `<svg ${SVG} xmlns:xlink="http://www.w3.org/1999/xlink" width="100mm" height="50mm" viewBox="0 0 200 100">
    <symbol id="s" viewBox="0 0 10 10"><path d="M5 0L10 10H0z"/></symbol><g id="two"><use xlink:href="#s" width="40" height="40" fill="#c30"/>
    <use href="#s" x="50" width="40" height="40" fill="navy"/></g><use xlink:href="#two" transform="translate(100 50) rotate(10)"/></svg>`,
  'strokes, dashes, markers and patterns': `<svg ${SVG} viewBox="0 0 90 90"><defs><marker id="dot" markerWidth="4" markerHeight="4" refX="2" refY="2"><circle cx="2" cy="2" r="1.5" fill="#909"/></marker>
    <pattern id="p" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 0h3v6H0z" fill="#06c"/></pattern></defs>
    <polyline points="10,80 30,20 50,60 80,10" fill="none" stroke="#090" stroke-width="4" stroke-dasharray="8 2" stroke-linecap="round" marker-mid="url(#dot)"/>
    <ellipse cx="45" cy="70" rx="30" ry="12" style="fill:url('#p');stroke:rgb(20%,30%,40%)"/></svg>`,
  'a shadow by a filter': `<svg ${SVG} viewBox="0 0 64 64"><filter id="f" x="-20%" y="-20%" width="140%" height="140%"><feGaussianBlur in="SourceAlpha" stdDeviation="2" result="b"/>
    <feOffset in="b" dx="2" dy="2" result="o"/><feComponentTransfer in="o" result="t"><feFuncA type="linear" slope=".5"/></feComponentTransfer>
    <feMerge><feMergeNode in="t"/><feMergeNode in="SourceGraphic"/></feMerge></filter><rect x="10" y="10" width="40" height="40" rx="8" fill="#a3f" filter="url(#f)"/></svg>`,
  'text in several pieces': `<svg ${SVG} viewBox="0 0 160 50"><text x="4" y="34" font-family="Helvetica, 'DejaVu Sans', sans-serif" font-size="28" font-weight="bold">A<tspan fill="#c00" dy="4">&amp;</tspan>B Ωж</text></svg>`,
  'a link, a switch and what an editor adds': `<svg ${SVG} xmlns:i="http://ns.adobe.com/AdobeIllustrator/10.0/" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd" width="48" height="32">
    <title>Logo</title><metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></metadata><sodipodi:namedview id="n" pagecolor="#fff"/>
    <switch><foreignObject requiredExtensions="http://ns.adobe.com/AdobeIllustrator/10.0/" width="1" height="1"/><g i:extraneous="self"><a xlink:href="https://example.com/"><path d="M4 4h20v24H4z" fill="#085"/></a></g></switch>
    <g inkscape:label="x" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"><path d="M28 4h16v24H28z" style="fill:#f60;fill-opacity:.7;-inkscape-font-specification:Sans"/></g></svg>`,
  'namespaces that are entities': `<?xml version="1.0" encoding="utf-8"?><!-- Generator: Adobe Illustrator 16 -->
    <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
      <!ENTITY ns_extend "http://ns.adobe.com/Extensibility/1.0/">
      <!ENTITY ns_ai "http://ns.adobe.com/AdobeIllustrator/10.0/">
      <!ENTITY ns_svg "http://www.w3.org/2000/svg">
      <!ENTITY ns_xlink "http://www.w3.org/1999/xlink">
    ]>
    <svg version="1.1" xmlns:x="&ns_extend;" xmlns:i="&ns_ai;" xmlns="&ns_svg;" xmlns:xlink="&ns_xlink;" viewBox="0 0 60 40">
    <switch><foreignObject requiredExtensions="&ns_ai;" width="1" height="1"><i:pgfRef xlink:href="#adobe_illustrator_pgf"/></foreignObject>
    <g i:extraneous="self"><path id="p" fill="#00549F" d="M4 4h20v32H4z"/><use xlink:href="#p" x="28"/></g></switch></svg>`,
  'an empty internal subset': `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" []><svg ${SVG} viewBox="0 0 9 9"><circle cx="4" cy="4" r="4" fill="#639"/></svg>`,
  'colours of a wide screen behind their fallbacks': `<svg ${SVG} width="40" height="20" viewBox="0 0 40 20"><style>.a{fill:rgb(0 90 60);fill:color(display-p3 0.0 0.35 0.24)}</style>
    <rect class="a" width="18" height="20"/><rect x="20" width="20" height="20" fill="#FF4E00" style="fill:#FF4E00;fill:color(display-p3 1.0000 0.3059 0.0000);fill-opacity:1;"/></svg>`,
  'a drawing with prefixes': `<svg:svg xmlns:svg="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><svg:g transform="scale(.5)"><svg:rect width="18" height="9" fill="hsl(200, 50%, 40%)"/></svg:g></svg:svg>`,
};
