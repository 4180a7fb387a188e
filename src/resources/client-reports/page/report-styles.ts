/** The styles of a report, on a screen, on a phone, and on A4. */
export const reportStyles = `
*{box-sizing:border-box}
html{-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{margin:0;background:#eef0f4;color:#1d2129;font:15px/1.55 -apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Liberation Sans",sans-serif}
.sheet{max-width:800px;margin:32px auto;background:#fff;border-radius:12px;overflow:hidden;box-shadow:0 1px 3px #1d212926,0 12px 32px #1d212914}
.band{display:flex;align-items:center;justify-content:space-between;gap:24px;min-height:76px;padding:16px 48px;background:var(--accent);color:var(--on-accent)}
.agency{font-size:19px;font-weight:650;overflow-wrap:anywhere}
.logo{display:block;max-width:220px;max-height:48px;object-fit:contain;background:#fff;padding:6px 10px;border-radius:8px}
.kind{font-size:13px;white-space:nowrap}
.title{display:flex;align-items:flex-end;justify-content:space-between;gap:24px;padding:36px 48px 8px}
h1{margin:0;font-size:30px;line-height:1.2;letter-spacing:-.015em;overflow-wrap:anywhere}
.address{margin:4px 0 0;color:#5b6270;overflow-wrap:anywhere}
.month{margin:0;font-size:19px;font-weight:600;color:var(--link);white-space:nowrap}
main{padding:16px 48px 8px}
.facts{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:16px 0 8px}
.fact{padding:16px;border:1px solid #dfe3ea;border-radius:10px;border-top:3px solid var(--accent)}
dt{font-size:12.5px;font-weight:600;color:#5b6270}
dd{margin:0}
dd b{display:block;margin:4px 0 2px;font-size:22px;white-space:nowrap;line-height:1.2;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
dd b.none{font-size:17px;line-height:30px;letter-spacing:0;color:#5b6270}
dd span{display:block;font-size:12.5px;line-height:1.4;color:#5b6270}
section{padding:22px 0 6px;border-top:1px solid #e6e9ef;margin-top:20px}
h2{margin:0 0 6px;font-size:17px;letter-spacing:-.005em;break-after:avoid}
p{margin:0 0 10px}
.note,.legend{font-size:12.5px;color:#5b6270}
.strip{display:flex;gap:3px;height:32px;margin:12px 0 8px}
.strip i{flex:1;border-radius:3px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px}
.legend span{display:flex;align-items:center;gap:6px}
.legend i{width:10px;height:10px;border-radius:3px}
i.good{background:#2f9e63}i.fair{background:#e0a526}i.bad{background:#d1453b}i.none{background:#d5dae2}
table{width:100%;border-collapse:collapse;margin:10px 0 12px;font-size:14px}
thead{display:table-header-group}
th{padding:6px 12px 6px 0;text-align:left;font-size:12.5px;font-weight:600;color:#5b6270;border-bottom:1px solid #cdd3dd}
td{padding:7px 12px 7px 0;border-bottom:1px solid #e6e9ef;vertical-align:top;overflow-wrap:anywhere}
td:first-child{white-space:nowrap;font-variant-numeric:tabular-nums}
td:last-child,th:last-child{padding-right:0}
tr{break-inside:avoid}
.badge{display:inline-block;padding:1px 9px;border-radius:99px;font-size:12px;font-weight:600;white-space:nowrap;background:#e9ecf2;color:#3b4252;vertical-align:middle}
.badge.done{background:#dff3e7;color:#14633a}.badge.undone{background:#fbf0d3;color:#6f4e00}.badge.failed{background:#fbe2e0;color:#8f1f17}
figure{margin:14px 0 8px}
figure svg{display:block;width:100%;height:96px;fill:var(--accent)}
figcaption{display:flex;justify-content:space-between;gap:12px;margin-top:6px;font-size:12.5px;color:#5b6270}
.scores{display:flex;gap:12px;margin:12px 0}
.score{flex:1;display:flex;align-items:baseline;gap:10px;padding:14px 16px;border:1px solid #dfe3ea;border-radius:10px}
.score b{font-size:28px;line-height:1;font-variant-numeric:tabular-nums}
.score.good b{color:#14633a}.score.fair b{color:#7a5600}.score.bad b{color:#a1281f}.score.none b{font-size:17px;color:#5b6270}
.score span{font-weight:600}.score small{margin-left:auto;font-size:12.5px;color:#5b6270}
footer{margin-top:16px;padding:18px 48px 28px;font-size:12.5px;color:#5b6270}
@media (max-width:640px){
.sheet{margin:0;border-radius:0;box-shadow:none}
.band{padding:14px 20px;min-height:64px}.title{display:block;padding:24px 20px 4px}.month{margin-top:10px}
main{padding:8px 20px}footer{padding:16px 20px 28px}
h1{font-size:25px}.facts{grid-template-columns:1fr 1fr}.scores{flex-direction:column}
.strip{gap:2px}td{padding-right:8px}
}
@media (max-width:340px){.facts{grid-template-columns:1fr}}
@page{size:A4;margin:14mm 0 16mm}
@page:first{margin-top:0}
@media print{
body{background:#fff;font-size:13.5px}
.sheet{max-width:none;margin:0;border-radius:0;box-shadow:none;overflow:visible}
.band{padding-left:16mm;padding-right:16mm}.title{padding:9mm 16mm 0}main{padding:3mm 16mm 0}footer{padding:4mm 16mm 0}
.facts,.fact,figure,.scores,.strip{break-inside:avoid}
section{margin-top:14px;padding-top:16px}
p{orphans:3;widows:3}
}
`
