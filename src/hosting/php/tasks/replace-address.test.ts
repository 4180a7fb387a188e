/** A site moves to another address: every form in which the old one stands in its database, in a real WordPress. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import { fetchPage, install, type TestHome, testHome, testRequest, testRuntime } from '../../../../test/support/home.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()
const from = 'my.localhost:8081'

describe.skipIf(!core)('replace-address', () => {
  let runtime: PhpRuntime
  let home: TestHome
  let php: PhpProcess

  beforeAll(async () => {
    runtime = await testRuntime()
    home = await testHome(core as string)
    php = await runtime.start(home)
    await install(php)
  })
  afterAll(async () => {
    await runtime?.close()
    await home?.remove()
  })

  async function run(code: string): Promise<string> {
    const script = await home.script('run.php', `require 'wp-load.php'; ${code}`)
    return (await fetchPage(php, testRequest('/run.php', script))).text
  }

  /** What a text stored as an option, raw, has become. */
  async function moved(texts: string[], move = { from, to: 'new.example.org' }): Promise<string[]> {
    const list = Buffer.from(JSON.stringify(texts)).toString('base64')
    await run(`
      $wpdb->query("DELETE FROM $wpdb->options WHERE option_name LIKE 'moved-%'");
      foreach (json_decode(base64_decode('${list}')) as $i => $text)
        $wpdb->insert($wpdb->options, ['option_name' => "moved-$i", 'option_value' => $text, 'autoload' => 'no']);`)
    await php.runTask('replace-address', move)
    return JSON.parse(
      await run(`echo json_encode($wpdb->get_col(
        "SELECT option_value FROM $wpdb->options WHERE option_name LIKE 'moved-%' ORDER BY option_id"));`),
    )
  }

  test('plain, JSON and percent-encoded addresses; nothing that only begins alike', async () => {
    const cases: [string, string][] = [
      ['http://my.localhost:8081', 'http://new.example.org'],
      ['see https://MY.localhost:8081/a?b#c.', 'see https://new.example.org/a?b#c.'],
      ['At http://my.localhost:8081. Then', 'At http://new.example.org. Then'],
      ['{"u":"http:\\/\\/my.localhost:8081\\/x"}', '{"u":"http:\\/\\/new.example.org\\/x"}'],
      [
        '"{\\"u\\":\\"http:\\\\\\/\\\\\\/my.localhost:8081\\\\\\/x\\"}"',
        '"{\\"u\\":\\"http:\\\\\\/\\\\\\/new.example.org\\\\\\/x\\"}"',
      ],
      ['r=http%3A%2F%2Fmy.localhost%3A8081%2Fx', 'r=http%3A%2F%2Fnew.example.org%2Fx'],
      ['my.localhost:8081', 'new.example.org'],
      ['http://my.localhost:80812/', 'http://my.localhost:80812/'],
      ['http://my.localhost:8081.example.com/', 'http://my.localhost:8081.example.com/'],
      ['http://my.localhost/', 'http://my.localhost/'],
      ['http://not-my.localhost:8081/', 'http://not-my.localhost:8081/'],
      ['http://www.my.localhost:8081/', 'http://www.my.localhost:8081/'],
      ['owner@my.localhost', 'owner@my.localhost'],
    ]
    expect(await moved(cases.map(([before]) => before))).toEqual(cases.map(([, after]) => after))
    expect(await run(`echo get_option('home'), ' ', get_option('siteurl');`)).toBe(
      'http://new.example.org http://new.example.org',
    )
  })

  test('a port that comes, stays away or changes', async () => {
    const to = { from: 'my.localhost', to: 'my.localhost:9' }
    expect(
      await moved(
        ['http://my.localhost/', 'http://my.localhost:8081/', '%2F%2Fmy.localhost%2F', 'http://my.localhost.nl/'],
        to,
      ),
    ).toEqual([
      'http://my.localhost:9/',
      'http://my.localhost:8081/',
      '%2F%2Fmy.localhost%3A9%2F',
      'http://my.localhost.nl/',
    ])
  })

  test('serialized values at any depth keep being what they were, with the lengths of bytes', async () => {
    const make = `
      $url = 'http://my.localhost:8081/Grüße-🌍';
      $object = new stdClass; $object->url = $url; $object->{'http://my.localhost:8081'} = [1.5, null, true];
      $value = ['ü' => $url, 'inner' => serialize(['deep' => serialize("$url $url")]), 'json' => json_encode(['u' => $url]),
        'object' => $object, 'again' => $object, 'n' => -3, 'text' => 's:5:"' . $url];`
    await run(`${make} update_option('moved', $value, false); $wpdb->insert($wpdb->postmeta, ['post_id' => 1, 'meta_key' => 'moved', 'meta_value' => serialize($value)]);
      $wpdb->insert($wpdb->options, ['option_name' => 'unreadable', 'autoload' => 'no',
        'option_value' => 'a:1:{s:1:"x";C:3:"Foo":24:{http://my.localhost:8081}}']);`)
    await php.runTask('replace-address', { from, to: 'sehr-viel-länger.example.org' })
    const same = await run(`${make}
      $moved = static fn ($text) => str_replace('my.localhost:8081', 'sehr-viel-länger.example.org', $text);
      wp_cache_flush();
      $check = static function ($found) use ($moved, $value, $url) {
        $inner = unserialize(unserialize($found['inner'])['deep']);
        return [$found['ü'] === $moved($url), $inner === $moved("$url $url"), json_decode($found['json'])->u === $moved($url),
          $found['object']->url === $moved($url), $found['again'] === $found['object'], $found['n'] === -3,
          $found['object']->{'http://sehr-viel-länger.example.org'} === [1.5, null, true], $found['text'] === $moved($value['text'])];
      };
      echo json_encode([...$check(get_option('moved')), ...$check(get_post_meta(1, 'moved', true))]);`)
    expect(JSON.parse(same)).toEqual(Array(16).fill(true))
    expect(
      await run(`echo $wpdb->get_var("SELECT option_value FROM $wpdb->options WHERE option_name = 'unreadable'");`),
    ).toBe('a:1:{s:1:"x";C:3:"Foo":24:{http://my.localhost:8081}}')
  })
})
