#include <string>

#include "sarrus/bench/report_sections.h"

namespace sarrus {

std::string report_style() {
  return std::string(R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--soft:#5a6068;--line:#d9dce1;--band:#f4f5f7;--link:)css") +
         std::string(picture::kAccent) + R"css(;
--good:#0a6b43;--bad:#a62b1f}
@media screen and (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e4e6ea;--soft:#a3a9b3;--line:#383c44;
--band:#1f2228;--link:#7db8f5;--good:#5fd3a0;--bad:#ff8f80}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:1264px;padding:0 20px 60px;background:var(--paper);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
h1{font-size:1.75rem;line-height:1.2;margin:1.6rem 0 .3rem}
h2{font-size:1.3rem;margin:2.6rem 0 .6rem;padding-top:.5rem;border-top:2px solid var(--line)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}
p,li{max-width:82ch}
a{color:var(--link)}
code{font:.88em ui-monospace,"DejaVu Sans Mono",Consolas,monospace;overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:1rem 0;padding:0}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:1rem 0}
dl.facts dt{color:var(--soft)}
dl.facts dd{margin:0}
.lead{max-width:95ch;font-size:1.07rem;border-left:4px solid var(--link);padding:.1rem 0 .1rem 1rem;margin:1.2rem 0}
figure{margin:1.2rem 0 1.8rem}
figcaption{font-size:.9rem;max-width:100ch;margin:.35rem 0 .5rem;color:var(--ink)}
.made{color:var(--soft);display:block}
.pictures{display:flex;flex-wrap:wrap;gap:6px 14px;align-items:flex-start}
.pictures svg{max-width:100%;height:auto}
.scroll{overflow:auto;max-height:85vh;border:1px solid var(--line);border-radius:4px}
table{border-collapse:separate;border-spacing:0;font-size:.82rem;line-height:1.35;font-variant-numeric:tabular-nums;
min-width:100%}
th,td{padding:.27rem .5rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
td{white-space:nowrap}
td.long{white-space:normal;min-width:22ch}
tbody tr:last-child>*{border-bottom:0}
thead th{position:sticky;top:0;z-index:2;background:var(--band);font-weight:600;vertical-align:bottom}
tbody th{position:sticky;left:0;z-index:1;background:var(--paper);font-weight:600;white-space:nowrap}
thead th:first-child{left:0;z-index:3}
tbody tr:hover>*{background:var(--band)}
.num{text-align:right}
small{color:var(--soft);font-weight:400;white-space:nowrap}
.good{color:var(--good)}
.bad{color:var(--bad)}
.faint{color:var(--soft)}
th button{all:unset;cursor:pointer;display:inline}
th button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
th[aria-sort=ascending] button::after{content:" ▲";font-size:.75em}
th[aria-sort=descending] button::after{content:" ▼";font-size:.75em}
details{margin:.8rem 0;border:1px solid var(--line);border-radius:4px;padding:.3rem .9rem}
summary{cursor:pointer;font-weight:600;padding:.25rem 0}
footer{margin-top:3rem;color:var(--soft);font-size:.88rem;border-top:1px solid var(--line);padding-top:.6rem}
@media print{@page{size:A4 landscape;margin:11mm}
html{font-size:12px}body{max-width:none;padding:0;font-size:11.5px}
nav{display:none}
.scroll{overflow:visible;max-height:none;border:0}
table{font-size:8.6px}th,td{padding:.18rem .35rem}td{white-space:normal}td.num{white-space:nowrap}
thead th,tbody th{position:static}thead{display:table-header-group}
tr,figure,svg{break-inside:avoid}h2,h3,summary,section>p{break-after:avoid}
.pictures{display:block;zoom:.84}.pictures svg{max-height:190mm}
.pictures svg:first-child:nth-last-child(2),.pictures svg:first-child:nth-last-child(2)~svg{max-height:92mm}
figure.data figcaption{break-after:avoid}figure.picture figcaption{break-before:avoid}
details{border:0;padding:0}details::details-content{content-visibility:visible;display:block;height:auto}
a{color:inherit;text-decoration:none}}
)css";
}

// No character that XML reserves, so that the page stays well-formed.
std::string report_script() {
  return R"js(
(function(){
function key(row,i){var c=row.children[i],k=c.getAttribute('data-k');
if(k===null)return c.textContent.trim().toLowerCase();
return k==='last'?NaN:parseFloat(k);}
function order(a,b){var x=typeof a==='number',y=typeof b==='number';
if(x)if(y)return a-b;
return String(a).localeCompare(String(b),undefined,{numeric:true});}
function missing(k){return typeof k==='number'?isNaN(k):false;}
function sort(table,th,i){var up=th.getAttribute('aria-sort')!=='ascending';
if(th.getAttribute('aria-sort')===null)up=!th.classList.contains('num');
var body=table.tBodies[0],rows=Array.prototype.slice.call(body.rows).map(function(r,n){return{r:r,n:n,k:key(r,i)};});
rows.sort(function(a,b){if(missing(a.k)!==missing(b.k))return missing(a.k)?1:-1;
if(missing(a.k))return a.n-b.n;
var d=order(a.k,b.k);return d===0?a.n-b.n:up?d:-d;});
rows.forEach(function(o){body.appendChild(o.r);});
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(c){if(c!==th)c.removeAttribute('aria-sort');});
th.setAttribute('aria-sort',up?'ascending':'descending');}
document.querySelectorAll('table.sortable').forEach(function(table){
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(th,i){
var b=document.createElement('button');b.type='button';
while(th.firstChild)b.appendChild(th.firstChild);
th.appendChild(b);b.addEventListener('click',function(){sort(table,th,i);});});});
var closed=[];
window.addEventListener('beforeprint',function(){closed=Array.prototype.slice.call(
document.querySelectorAll('details:not([open])'));closed.forEach(function(d){d.open=true;});});
window.addEventListener('afterprint',function(){closed.forEach(function(d){d.open=false;});closed=[];});
})();
)js";
}

std::string folded(const std::string& summary, const std::string& html, bool open) {
  return std::string("<details") + (open ? " open=\"open\"" : "") + "><summary>" + summary + "</summary>\n" + html +
         "</details>\n";
}

}  // namespace sarrus
