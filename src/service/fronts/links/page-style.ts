/** The style sheet of the page of a link, with the fonts of the device. It has few spaces: bundlers keep them. */
export const STYLE = `
:root{color-scheme:light dark;--text:#1b1f24;--quiet:#57606a;--back:#f6f7f9;--card:#fff;--line:#d0d5db;
--main:#0a58ca;--on-main:#fff;--bad:#b42318;--good:#116329}
@media (prefers-color-scheme:dark){:root{--text:#e8eaed;--quiet:#a9b1ba;--back:#111417;--card:#1b1f24;
--line:#454c54;--main:#8ab4f8;--on-main:#0b1a30;--bad:#ff9a90;--good:#7ee2a0}}
*{box-sizing:border-box}
body{margin:0;padding:1rem;background:var(--back);color:var(--text);font:1.0625rem/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
main{max-width:32rem;margin:4vh auto 0;padding:1.25rem;background:var(--card);border:1px solid var(--line);
border-radius:.75rem}
h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.25}p,pre{margin:.5rem 0}
pre,label,.quiet{font-size:.9375rem}pre{white-space:pre-wrap}.quiet,dt{color:var(--quiet)}
.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}
dl{display:grid;grid-template-columns:minmax(min-content,max-content) 1fr;gap:.25rem 1rem;margin:.75rem 0}
dd{margin:0}form{margin-top:1rem}label{display:block;margin-bottom:.25rem}
textarea{width:100%;min-height:5rem;margin-bottom:.5rem;padding:.5rem;border:1px solid var(--quiet);
border-radius:.5rem;background:var(--card);color:inherit;font:inherit}
button{width:100%;min-height:3rem;padding:.5rem 1rem;border:1px solid var(--main);border-radius:.5rem;
background:var(--card);color:var(--main);font:inherit;font-weight:600;cursor:pointer}
button:hover{background:var(--main);color:var(--on-main)}.danger{border-color:var(--bad);color:var(--bad)}
.danger:hover{background:var(--bad)}:focus-visible{outline:3px solid var(--main);outline-offset:2px}
`

/** Of `STYLE`, for the header `Content-Security-Policy`. A test compares both. */
export const STYLE_HASH = 'sha256-pwBT5uRoZz16M8khptA7ZwLP7MpqTX5d454xrrEej/s='
