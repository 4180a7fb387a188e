/**
 * Plugins that put something on the homepage which changes without an update, as on real sites. Each is the code of a
 * plugin. `SLUG` is its folder.
 */

const print = (html: string, hook = 'wp_body_open') =>
  `add_action('${hook}', function () { if (is_front_page()) echo <<<'HTML'\n${html}\nHTML;\n});`
const php = (code: string, hook = 'wp_body_open') =>
  `add_action('${hook}', function () { if (is_front_page()) { ${code} } });`
/** Answers `/?SLUG=…`. */
const served = (code: string) => `add_action('init', function () { if (isset($_GET['SLUG'])) { ${code} exit; } });`
const picture =
  served(`usleep(1000 * (int) ($_GET['ms'] ?? 0)); header('Content-Type: image/svg+xml'); $n = (int) $_GET['SLUG'];
  printf('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="%d"><rect width="200" height="400" fill="hsl(%d,60%%,50%%)"/></svg>', 100 + $n * 37 % 90, $n * 47);`)
const each = (count: number, html: string) =>
  Array.from({ length: count }, (_, n) => html.replaceAll('#', String(n))).join('')
const box = (style: string, content = '', more = '') =>
  `<div style="padding:20px;font-size:24px;${style}" ${more}>${content}</div>`

const quotes = `$quotes = [
  'The best way out is always through, said a poet who had walked a long way in the snow.',
  'Simplicity is the ultimate sophistication.',
  'Whatever you are, be a good one. That was the advice of a president to a young friend who wanted to become a lawyer in a small town.',
  'An investment in knowledge pays the best interest.',
  'Well done is better than well said, wrote the printer, and went back to his press.'];`

export const movingPages: Readonly<Record<string, string>> = {
  'carousel-by-timer': print(`${box('height:200px;background:#246;color:#fff', 'Slide one', 'id="c1"')}
    <script>{ let n = 0; setInterval(() => { c1.textContent = 'Slide number ' + ++n; c1.style.background = ['#246', '#642', '#264'][n % 3] }, 3000) }</script>`),
  'carousel-by-style':
    print(`<style>@keyframes slide { to { transform: translateX(-66%) } }</style><div style="overflow:hidden">
    <div style="display:flex;width:300%;animation:slide 6s infinite alternate">${each(3, box('flex:1;height:150px;background:hsl(#0,60%,40%)', 'Slide #'))}</div></div>`),
  'clock-by-script': print(
    `${box('font-size:48px', '', 'id="c2"')}<script>{ const tick = () => { c2.textContent = new Date().toLocaleTimeString() }; tick(); setInterval(tick, 1000) }</script>`,
  ),
  'clock-of-server': php(`echo '<p style="font-size:48px">It is ', date('H:i:s'), ' on our server</p>';`),
  'relative-dates': php(`$began = get_option('SLUG_began') ?: time(); update_option('SLUG_began', $began);
    foreach ([20, 45, 100, 170, 230, 3560, 7100, 86300] as $age) printf('<p>Ann wrote a comment %s ago in News</p>', human_time_diff($began - $age));`),
  'random-quote': php(
    `${quotes} printf('<blockquote style="font-size:30px;max-width:500px">%s</blockquote>', $quotes[array_rand($quotes)]);`,
  ),
  'random-order-of-products': php(`$all = range(1, 8); shuffle($all); echo '<div style="display:flex;flex-wrap:wrap">';
    foreach ($all as $n) printf('<div style="width:220px;height:160px;background:hsl(%d,50%%,70%%)">Product %s<br>$%d.90</div>', $n * 40, chr(64 + $n), $n * 7); echo '</div>';`),
  'random-products': php(`$all = range(1, 20); shuffle($all); echo '<div style="display:flex;flex-wrap:wrap">';
    foreach (array_slice($all, 0, 4) as $n) printf('<div style="width:220px;height:160px;background:hsl(%d,50%%,70%%)">Recommended article %s with a name</div>', $n * 17, chr(64 + $n)); echo '</div>';`),
  'banner-by-chance': php(
    `$n = mt_rand(0, 2); printf('<div style="height:180px;padding:20px;font-size:36px;background:%s">%s</div>', ['#fc9', '#9cf', '#cf9'][$n], ['Summer sale on all shoes and hats', 'Free delivery for new customers', 'Ask our experts about gardens'][$n]);`,
  ),
  'banner-in-turn': php(
    `$n = (int) get_option('SLUG_turn'); update_option('SLUG_turn', $n + 1); printf('<div style="height:%dpx;padding:20px;font-size:36px;background:%s">Advertisement of %s</div>', 120 + 60 * ($n % 3), ['#fc9', '#9cf', '#cf9'][$n % 3], ['a bank', 'a car maker', 'an airline'][$n % 3]);`,
  ),
  'visitor-counter': php(
    `$n = (int) get_option('SLUG_visits', 98765); update_option('SLUG_visits', $n + 1); printf('<p style="font-size:60px">%s visitors since 2009</p>', number_format($n));`,
  ),
  'nonces-and-cache-busters':
    php(
      `printf('<form><input type="hidden" value="%s"><a href="/?v=%s">Read more</a><img src="/?SLUG=1&amp;v=%s"></form>', wp_create_nonce('x' . mt_rand()), uniqid(), uniqid());`,
    ) + picture,
  'consent-banner': print(
    `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<div style="position:fixed;bottom:0;left:0;right:0;background:#222;color:#fff;padding:40px">We use cookies. <button>Accept</button></div>'), 300)</script>`,
  ),
  'lazy-pictures':
    print(
      `<div style="display:flex;flex-wrap:wrap">${each(8, '<img loading="lazy" width="200" height="190" src="/?SLUG=#&amp;ms=#00">')}</div>`,
    ) + picture,
  'late-font':
    print(
      `<style>@font-face { font-family: late; src: url('/?SLUG=1'); font-display: swap }</style>${box('font-family:late,monospace;font-size:40px', 'A heading in a font that arrives late, on two or three lines of text')}`,
    ) +
    served(
      `usleep(1200000); $fonts = glob(ABSPATH . 'wp-content/themes/*/assets/fonts/{*,*/*}.woff2', GLOB_BRACE); if ($fonts) readfile($fonts[0]);`,
    ),
  'canvas-animation':
    print(`<canvas id="c3" width="600" height="200" style="display:block"></canvas><script>{ const g = c3.getContext('2d'); const dots = Array.from({ length: 50 }, () => [Math.random() * 600, Math.random() * 200]);
    const draw = () => { g.clearRect(0, 0, 600, 200); for (const dot of dots) { dot[0] = (dot[0] + 1) % 600; g.fillRect(...dot, 8, 8) } requestAnimationFrame(draw) }; draw() }</script>`),
  'countdown-by-script': php(
    `printf('<div id="c4" style="font-size:64px"></div><script>{ const end = %d; const tick = () => { const s = Math.floor((end - Date.now()) / 1000); c4.textContent = [s / 86400, s / 3600 %% 24, s / 60 %% 60, s %% 60].map(Math.floor).join(" : "); setTimeout(tick, 1000) }; tick() }</script>', (time() + 300000) * 1000);`,
  ),
  'countdown-of-server': php(
    `$s = strtotime('tomorrow') - time(); printf('<div style="font-size:64px">%02d : %02d : %02d</div><p>until the sale begins</p>', $s / 3600, $s / 60 % 60, $s % 60);`,
  ),
  'sticky-header': print(
    `${box('position:sticky;top:0;z-index:9;background:#fff;border-bottom:2px solid', 'A header that stays', 'id="c5"')}<script>addEventListener('scroll', () => c5.style.padding = scrollY > 50 ? '5px' : '20px')</script>`,
  ),
  'infinite-scroll':
    print(
      `<div id="c6"></div><div id="c7" style="height:20px"></div><script>{ let n = 0; new IntersectionObserver(async ([{ isIntersecting }]) => { if (!isIntersecting || n > 4) return; c6.insertAdjacentHTML('beforeend', await (await fetch('/?SLUG=' + ++n)).text()) }).observe(c7) }</script>`,
    ) +
    served(
      `printf('<p style="height:120px;background:#eee">Entry %s of an endless list</p>', chr(64 + (int) $_GET['SLUG']));`,
    ),
  frame: print(
    `<iframe width="400" height="200" srcdoc="<h1>Frame</h1><script>setInterval(() => document.body.append(Math.random()), 50)</script>"></iframe>`,
  ),
  video: print(`<video autoplay muted loop controls width="400" height="220" poster="/?SLUG=3"></video>`) + picture,
  'map-of-tiles':
    print(
      `<div style="width:800px;line-height:0">${each(12, '<img width="200" height="150" src="/?SLUG=#&amp;ms=#50">')}</div>`,
    ) + picture,
  'number-that-counts-up': print(
    `${box('font-size:60px', '0 projects', 'id="c8"')}<script>{ const began = performance.now(); const step = (now) => { const part = Math.min(1, (now - began) / 1500); c8.textContent = Math.round(part * 12345) + ' projects'; if (part < 1) requestAnimationFrame(step) }; requestAnimationFrame(step) }</script>`,
  ),
  'typed-text': print(
    `${box('font-size:44px;height:60px', '', 'id="c9"')}<script>{ const text = 'We build things that last for years'; let n = 0; const type = () => { c9.textContent = text.slice(0, ++n); if (n < text.length) setTimeout(type, 60 + 60 * Math.random()) }; type() }</script>`,
  ),
  parallax: print(
    `${box('height:260px;background:repeating-linear-gradient(45deg,#248,#248 20px,#84a 20px,#84a 40px) fixed', 'Parallax', 'id="p1"')}<script>addEventListener('scroll', () => p1.style.backgroundPositionY = scrollY / 2 + 'px')</script>`,
  ),
  masonry:
    print(
      `<div id="m1" style="position:relative">${each(9, '<img src="/?SLUG=#&amp;ms=#0" style="position:absolute">')}</div><script>addEventListener('load', () => { const tall = [0, 0, 0]; for (const each of m1.children) { const low = tall.indexOf(Math.min(...tall)); each.style.cssText = 'position:absolute;left:' + low * 210 + 'px;top:' + tall[low] + 'px'; tall[low] += each.height + 10 } m1.style.height = Math.max(...tall) + 'px' })</script>`,
    ) + picture,
  'chat-bubble': print(
    `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<div style="position:fixed;bottom:20px;right:20px;width:240px;height:120px;background:#28a;color:#fff">How can we help?</div>'), 5000)</script>`,
  ),
  'newsletter-window': print(
    `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<div style="position:fixed;top:20%;left:20%;width:60%;height:300px;background:#fff;border:4px solid">Subscribe now <input></div>'), 2000)</script>`,
  ),
  'animated-picture': print(
    `<img width="300" height="200" src="data:image/gif;base64,${Buffer.from('47494638396101000100800000ff00000000ff21ff0b4e45545343415045322e30030100000021f90404140000002c000000000100010000020244010021f90404140000002c00000000010001000002024c01003b', 'hex').toString('base64')}">`,
  ),
  'animated-drawing': print(
    `<svg width="400" height="120"><rect width="60" height="120" fill="#c36"><animate attributeName="x" from="0" to="340" dur="3s" repeatCount="indefinite"/></rect></svg>`,
  ),
  marquee: print(
    '<marquee style="font-size:32px">Breaking news: the market opens at nine, and trains run on time again</marquee>',
  ),
  toast: print(
    `<script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<div id="t1" style="position:fixed;top:40px;right:40px;padding:30px;background:#272;color:#fff">Someone in Lyon has just bought a hat</div>'); setTimeout(() => t1.remove(), 2500) }, 800)</script>`,
  ),
  'text-of-session': php(`printf('<p style="font-size:30px">Hello guest %s</p>', substr(md5(uniqid()), 0, 6));`),
  'ab-test': php(
    `$b = mt_rand(0, 1); echo '<script>document.cookie = "SLUG=', $b, '"</script>', $b ? '<div style="height:220px;background:#fda;font-size:40px">Try our new plan now, free of charge</div>' : '<div style="height:140px;background:#adf;font-size:40px">Start today</div>';`,
  ),
  'fade-in': print(
    `<style>.f1 { opacity: 0; transition: opacity 1s }</style>${each(4, '<p class="f1" style="font-size:30px">Paragraph # fades in</p>')}<script>{ const seen = new IntersectionObserver((all) => { for (const { target, isIntersecting } of all) if (isIntersecting) target.style.opacity = 1 }); for (const each of document.querySelectorAll('.f1')) seen.observe(each) }</script>`,
  ),
  skeleton:
    print(
      `<div id="s1" style="height:160px;background:#ddd"></div><script>fetch('/?SLUG=1').then(async (answer) => { s1.outerHTML = await answer.text() })</script>`,
    ) +
    served(
      `usleep(700000); echo '<div style="height:260px;background:#cfc;font-size:30px">Loaded with a delay</div>';`,
    ),
  'slow-api-with-fallback':
    print(
      `<div id="w1" style="font-size:30px">Loading …</div><script>{ const late = setTimeout(() => { w1.textContent = 'Not available' }, 1800); fetch('/?SLUG=1').then(async (answer) => { clearTimeout(late); w1.textContent = await answer.text() }) }</script>`,
    ) + served(`usleep(mt_rand(1200000, 2400000)); echo 'Sunny, with a light wind from the west';`),
  'generated-gradient': print(
    `<div id="g1" style="height:200px"></div><script>{ const c = () => 'hsl(' + Math.floor(Math.random() * 360) + ',70%,60%)'; g1.style.background = 'linear-gradient(' + c() + ',' + c() + ')'; g1.id = crypto.getRandomValues(new Uint32Array(1))[0] }</script>`,
  ),
  'stock-ticker': php(
    `foreach (['ACME', 'INIT', 'STED', 'WORD', 'PRES'] as $name) { $up = mt_rand(0, 1); printf('<span style="font-size:28px;color:%s"> %s %s %.2f </span>', $up ? 'green' : 'red', $name, $up ? '▲' : '▼', mt_rand(100, 99999) / 100); }`,
  ),
  'people-who-look': php(
    `printf('<p style="font-size:28px">%d people are looking at this right now 👀 🎉</p>', mt_rand(5, 140));`,
  ),
}

/** What a release of a plugin changes that nobody sees: more code, and more files. */
interface Release {
  readonly code?: string
  readonly style?: string
  readonly script?: string
  readonly files?: Readonly<Record<string, string>>
}

/** Of version 1.0 and 1.1. The plugin loads `style.css` and `app.js` with its version. */
export const harmlessReleases: Readonly<Record<string, readonly [Release, Release]>> = {
  'only the version': [{}, {}],
  'more translations': [
    {},
    {
      code: `add_action('init', fn () => load_plugin_textdomain('SLUG', false, 'SLUG/languages'));`,
      files: { 'languages/SLUG-de_DE.po': 'msgid "Read more"\nmsgstr "Weiterlesen"\n' },
    },
  ],
  'a style sheet with the same rules': [
    { style: '.SLUG { color: red; margin: 0 }' },
    { style: '.SLUG{margin:0;color:#f00}' },
  ],
  'a script that was minified again': [
    { script: '!function(){var e=document.body;e.classList.add("SLUG");e.oops.map()}()' },
    { script: '!function(){var t=document.body;t.classList.add("SLUG");t.oops.map()}()' },
  ],
  'an option': [{}, { code: `add_action('init', fn () => update_option('SLUG_settings', ['a' => 1]));` }],
  'a table': [
    {},
    {
      code: `add_action('init', function () { if (get_option('SLUG_db') === '1.1') return; global $wpdb; require_once ABSPATH . 'wp-admin/includes/upgrade.php';
    dbDelta("CREATE TABLE {$wpdb->prefix}" . str_replace('-', '_', 'SLUG') . " (id bigint(20) NOT NULL AUTO_INCREMENT, note text NOT NULL, PRIMARY KEY  (id))"); update_option('SLUG_db', '1.1'); });`,
    },
  ],
  'a page of the dashboard': [
    {},
    {
      code: `add_action('admin_menu', fn () => add_options_page('SLUG', 'SLUG', 'manage_options', 'SLUG', fn () => print('<h1>SLUG</h1>')));`,
    },
  ],
  'a cron event': [
    {},
    {
      code: `add_action('init', fn () => wp_next_scheduled('SLUG_daily') || wp_schedule_event(time() + 60, 'daily', 'SLUG_daily'));`,
    },
  ],
  'a REST route': [
    {},
    {
      code: `add_action('rest_api_init', fn () => register_rest_route('SLUG/v1', '/state', ['callback' => fn () => 1, 'permission_callback' => '__return_true']));`,
    },
  ],
  'a class of another name': [
    { code: 'final class Stead_Bench_SLUG_Main {}' },
    { code: 'final class Stead_Bench_SLUG_Plugin {}' },
  ],
  'notices in the log': [{}, { code: `add_action('init', fn () => trigger_error('SLUG is careful', E_USER_NOTICE));` }],
  'a meta element': [
    {},
    { code: `add_action('wp_head', fn () => print('<meta name="generator" content="SLUG 1.1">'));` },
  ],
  'a notice of the dashboard': [
    {},
    { code: `add_action('admin_notices', fn () => print('<div class="notice"><p>Thank you</p></div>'));` },
  ],
  'deprecations in the log': [
    {},
    { code: `add_action('init', fn () => trigger_error('SLUG is old', E_USER_DEPRECATED));` },
  ],
  'a warning that was there before, in another file': [
    {
      code: `require __DIR__ . '/old.php';`,
      files: { 'old.php': `<?php add_action('init', fn () => trigger_error('SLUG has no key', E_USER_WARNING));` },
    },
    {
      code: `require __DIR__ . '/src/new.php';`,
      files: { 'src/new.php': `<?php add_action('init', fn () => trigger_error('SLUG has no key', E_USER_WARNING));` },
    },
  ],
}
