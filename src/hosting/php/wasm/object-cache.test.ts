import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/support/core.ts'
import {
  fetchPage,
  install,
  type TestDirectory,
  testDirectory,
  testRequest,
  testRuntime,
} from '../../../../test/support/site-directory.ts'
import { hereRuntimes } from '../../../../test/support/ways.ts'
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()

describe.skipIf(!core).each(hereRuntimes)('objects that WordPress keeps, $runtime', ({ runtime: kind, phpVersion }) => {
  let runtime: PhpRuntime
  let directory: TestDirectory
  let php: PhpProcess
  beforeAll(async () => {
    runtime = await testRuntime({ runtime: kind, atOnce: 1 })
    directory = await testDirectory(core as string, { phpVersion })
    php = await runtime.start(directory)
    await install(php)
  })
  afterEach(() => run('wp_cache_flush();'))
  afterAll(async () => {
    await runtime?.close()
    await directory?.remove()
  })

  /** Runs PHP in a separate request with WordPress loaded. @returns what it returns */
  async function run(code: string, beforeWordPress = ''): Promise<unknown> {
    const php_ = `${beforeWordPress} require '/wordpress/wp-load.php';
      echo json_encode((static function () { ${code} })());`
    const { status, text } = await fetchPage(php, testRequest('/run.php', await directory.script('run.php', php_)))
    expect(status).toBe(200)
    return JSON.parse(text)
  }

  it('return unchanged in the next request, with objects as copies', async () => {
    const kinds = `['text' => "a\\0b", 'number' => 1.5, 'false' => false, 'null' => null, 'list' => [1, ['two' => 2]], 'empty' => '']`
    await run(`foreach (${kinds} as $key => $value) wp_cache_set($key, $value, 'kinds');
      $object = (object) ['n' => 1]; wp_cache_set('object', $object, 'kinds'); $object->n = 2;`)
    const seen = await run(`$same = [];
      foreach (${kinds} as $key => $value) { $is = wp_cache_get($key, 'kinds', false, $found); $same[$key] = $found && $is === $value; }
      wp_cache_get('object', 'kinds')->n = 3;
      return $same + ['object' => wp_cache_get('object', 'kinds')->n, 'hits' => $GLOBALS['wp_object_cache']->cache_hits > 0];`)
    const all = { text: true, number: true, false: true, null: true, list: true, empty: true }
    expect(seen).toEqual({ ...all, object: 1, hits: true })
  })

  it('expire, and groups that are not persistent end with the request', async () => {
    await run(`wp_cache_set('soon', 1, 'times', 1); wp_cache_set('late', 2, 'times', 3600);
      wp_cache_add_non_persistent_groups(['passing']); wp_cache_set('gone', 3, 'passing');
      wp_cache_set('closure', static fn () => 1, 'times');`)
    await expect
      .poll(() => run(`return [wp_cache_get('soon', 'times'), wp_cache_get('late', 'times')];`))
      .toEqual([false, 2])
    expect(
      await run(`wp_cache_add_non_persistent_groups(['passing']);
        return [wp_cache_get('gone', 'passing'), wp_cache_get('closure', 'times')];`),
    ).toEqual([false, false])
  })

  it('behave like a plain map, whichever request does what', async () => {
    const key = fc.constantFrom('k0', 'k1', '7')
    const group = fc.constantFrom('g0', 'g1')
    const value = fc.nat(9)
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('set', 'add', 'replace'), key, group, value }),
      fc.record({ do: fc.constantFrom('get', 'delete', 'incr', 'decr'), key, group }),
      fc.record({ do: fc.constant('flush_group'), group }),
      fc.record({ do: fc.constantFrom('flush', 'flush_runtime') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { maxLength: 5 }), async (requests) => {
        await run('wp_cache_flush();')
        const model = new Map<string, number>()
        for (const steps of requests) {
          const expected = steps.map((each) => inModel(model, each as Step))
          const calls = steps.map((each) => phpCall(each as Step)).join(', ')
          expect(await run(`return [${calls}];`)).toEqual(expected)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('are all dropped when a request replaced some and could not store its own', async () => {
    await run(`wp_cache_set('a', 1, 'g'); wp_cache_set('b', 1, 'other');`)
    expect(await run(`return wp_cache_get('a', 'g');`)).toBe(1)
    // exit in a shutdown function skips the later ones.
    await run(`wp_cache_set('a', 2, 'g');`, 'register_shutdown_function(static function () { exit; });')
    expect(await run(`return [wp_cache_get('a', 'g'), wp_cache_get('b', 'other')];`)).toEqual([false, false])
  })

  it('are dropped when a plugin writes into WordPress’ tables without its functions, but not for the plugin’s own tables', async () => {
    await run(`wp_cache_set('a', 1, 'g'); update_option('mine', 'old');`)
    expect(await run(`return get_option('mine');`)).toBe('old')
    await run(
      `global $wpdb; $wpdb->query("CREATE TABLE IF NOT EXISTS {$wpdb->prefix}own_things (id int)"); $wpdb->insert("{$wpdb->prefix}own_things", ['id' => 1]);`,
    )
    expect(await run(`return wp_cache_get('a', 'g');`)).toBe(1)
    await run(`global $wpdb; $wpdb->update($wpdb->options, ['option_value' => 'new'], ['option_name' => 'mine']);`)
    expect(await run(`return [wp_cache_get('a', 'g'), get_option('mine')];`)).toEqual([false, 'new'])
  })

  it('end with the process, even after a crash', async () => {
    await run(`wp_cache_set('a', 1, 'g');`)
    expect(await run(`return wp_cache_get('a', 'g');`)).toBe(1)
    php.kill(new Error('as in a crash'))
    await php.exited
    php = await runtime.start(directory)
    expect(await run(`return wp_cache_get('a', 'g');`)).toBe(false)
  })

  it('give way to a drop-in of the site, and start empty when it is gone', async () => {
    await run(`update_option('blogname', 'Before'); wp_cache_set('a', 1, 'g');`)
    await run(
      `return file_put_contents(WP_CONTENT_DIR . '/object-cache.php', "<?php require ABSPATH . WPINC . '/cache.php';");`,
    )
    expect(
      await run(`wp_cache_set('a', 2, 'g'); update_option('blogname', 'After'); return wp_using_ext_object_cache();`),
    ).toBe(true)
    await run(`unlink(WP_CONTENT_DIR . '/object-cache.php');`)
    expect(await run(`return [wp_cache_get('a', 'g'), get_option('blogname')];`)).toEqual([false, 'After'])
  })

  it('exclude transients, which stay in the database, and can be turned off by the site', async () => {
    expect(
      await run(`set_transient('t', 'v', 60);
        return [wp_using_ext_object_cache(), $GLOBALS['wpdb']->get_var("SELECT option_value FROM wp_options WHERE option_name = '_transient_t'")];`),
    ).toEqual([false, 'v'])
    await run(`wp_cache_set('a', 1, 'g');`)
    const config = join(directory.siteDirectory, 'web/wp-config.php')
    const text = await readFile(config, 'utf8')
    await writeFile(config, text.replace('<?php', "<?php define('STEAD_OBJECT_CACHE', false);"))
    await php.moveIn({ address: directory.address })
    expect(await run(`wp_cache_set('b', 1, 'g'); return wp_cache_get('a', 'g');`)).toBe(false)
    await writeFile(config, text)
    await php.moveIn({ address: directory.address })
    expect(await run(`return [wp_cache_get('a', 'g'), wp_cache_get('b', 'g')];`)).toEqual([false, false])
  })

  it('stay within bounds: a group that grows too large is dropped', async () => {
    await run(`wp_cache_set('small', 1, 'other'); wp_cache_set('large', str_repeat('x', 2 << 20), 'g');`)
    expect(await run(`return [wp_cache_get('large', 'g'), wp_cache_get('small', 'other')];`)).toEqual([false, 1])
    const bytes = `array_sum(array_map('filesize', glob('/stead-cache/*')))`
    for (let n = 0; n < 3; n++)
      await run(`for ($i = 0; $i < 8; $i++) wp_cache_set('x', str_repeat('x', 900 << 10), "big-${n}-$i");`)
    expect(await run(`return ${bytes} <= 16 << 20;`)).toBe(true)
  })
})

interface WithValue {
  do: 'set' | 'add' | 'replace'
  key: string
  group: string
  value: number
}

type Step =
  | WithValue
  | { do: 'get' | 'delete' | 'incr' | 'decr'; key: string; group: string }
  | { do: 'flush_group'; group: string }
  | { do: 'flush' | 'flush_runtime' }

function phpCall(step: Step): string {
  if ('value' in step) return `wp_cache_${step.do}('${step.key}', ${step.value}, '${step.group}')`
  if (step.do === 'incr' || step.do === 'decr') return `wp_cache_${step.do}('${step.key}', 2, '${step.group}')`
  if ('key' in step) return `wp_cache_${step.do}('${step.key}', '${step.group}')`
  return step.do === 'flush_group' ? `wp_cache_flush_group('${step.group}')` : `wp_cache_${step.do}()`
}

/** Applies the step to the model. @returns its answer */
function inModel(model: Map<string, number>, step: Step): unknown {
  if (step.do === 'flush') model.clear()
  if (step.do === 'flush_group')
    for (const place of model.keys()) if (place.startsWith(`${step.group}/`)) model.delete(place)
  if (!('key' in step)) return true
  const place = `${step.group}/${step.key}`
  const old = model.get(place)
  if (step.do === 'get') return old ?? false
  if (step.do === 'delete') return model.delete(place)
  if (step.do === 'incr' || step.do === 'decr') {
    if (old === undefined) return false
    const value = Math.max(0, old + (step.do === 'incr' ? 2 : -2))
    model.set(place, value)
    return value
  }
  if (step.do === 'add' && old !== undefined) return false
  if (step.do === 'replace' && old === undefined) return false
  model.set(place, (step as WithValue).value)
  return true
}
