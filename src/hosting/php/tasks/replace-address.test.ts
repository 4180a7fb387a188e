/**
 * Moves a site to another address, in a real WordPress, with every form in which the old one appears in its database.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { rewriteAddress } from '../../site-database/rewrite-addresses.ts'
import { rewriteCases } from '../../site-database/rewrite-cases.fixture.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()
const from = 'my.localhost:8081'

describe.skipIf(!core)('replace-address', () => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess

  beforeAll(async () => {
    runtime = await testRuntime()
    directory = await testDirectory(core as string)
    php = await runtime.start(directory)
    await install(php)
  })
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  async function run(code: string): Promise<string> {
    const script = await directory.script('run.php', `require 'wp-load.php'; ${code}`)
    return (await fetchPage(php, testRequest('/run.php', script))).text
  }

  /** Returns texts that were stored raw as an option, as they are after the move. */
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

  test('changes the same as in a dump', async () => {
    for (const { change, values } of rewriteCases)
      expect(
        await moved(
          values.map(([before]) => before),
          change,
        ),
      ).toEqual(values.map(([before, after = before]) => after))
  })

  test("changes the site's own address settings", async () => {
    await php.runTask('replace-address', { from, to: 'new.example.org' })
    const said = `echo get_option('home'), ' ', get_option('siteurl');`
    expect(await run(said)).toBe('http://new.example.org http://new.example.org')
    await php.runTask('replace-address', { from: 'new.example.org', to: from })
  })

  test('writes dumps that PHP can read', async () => {
    const make = `
      $url = 'http://my.localhost:8081/Grüße-🌍';
      $object = new stdClass; $object->url = $url; $object->{'http://my.localhost:8081'} = [1.5, null, true];
      $value = ['ü' => $url, 'inner' => serialize(['deep' => serialize("$url $url")]), 'json' => json_encode(['u' => $url]),
        'object' => $object, 'again' => $object, 'n' => -3, 'float' => [0.1, INF, -1.5E+25], 'bytes' => "\xff\0$url"];`
    const serialized = await run(`${make} echo base64_encode(serialize($value));`)
    const change = { from, to: 'sehr-viel-länger.example.org' }
    const rewritten = rewriteAddress(Buffer.from(serialized, 'base64'), [change]).toString('base64')
    // unserialize() refuses a value with a single wrong length.
    const found = await run(`${make}
      $moved = static fn ($text) => str_replace('my.localhost:8081', 'sehr-viel-länger.example.org', $text);
      $found = unserialize(base64_decode('${rewritten}'));
      echo json_encode([$found['ü'] === $moved($url), unserialize(unserialize($found['inner'])['deep']) === $moved("$url $url"),
        json_decode($found['json'])->u === $moved($url), $found['object']->url === $moved($url), $found['again'] === $found['object'],
        $found['object']->{'http://sehr-viel-länger.example.org'} === [1.5, null, true], $found['n'] === -3,
        $found['float'] === $value['float'], $found['bytes'] === $moved($value['bytes'])]);`)
    expect(JSON.parse(found)).toEqual(Array(9).fill(true))
  })

  test('keeps serialized values valid at any depth, with lengths in bytes', async () => {
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
