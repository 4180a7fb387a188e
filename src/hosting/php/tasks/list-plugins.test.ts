/** The plugins and themes of a real WordPress, with the updates that it knows of. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
import type { PhpProcess, PhpRuntime } from '../runtime.ts'

const core = await testCore()

describe.skipIf(!core)('list-plugins', () => {
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

  const put = async (path: string, text: string) => {
    const file = join(directory.siteDirectory, 'web/wp-content', path)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, text)
  }

  test('tells which are active, due, and updated automatically, also of a parent theme', async () => {
    await put('plugins/forms/forms.php', '<?php\n/* Plugin Name: Forms\nVersion: 1.0 */')
    await put('plugins/single.php', '<?php\n/* Plugin Name: Single\nVersion: 2.0 */')
    await put('themes/parent/style.css', '/* Theme Name: Parent\nVersion: 1.0 */')
    await put('themes/parent/index.php', '<?php')
    await put('themes/child/style.css', '/* Theme Name: Child\nTemplate: parent\nVersion: 3.0 */')
    await put('themes/other/style.css', '/* Theme Name: Other\nVersion: 2.0 */')
    await put('themes/other/index.php', '<?php')
    const script = await directory.script(
      'run.php',
      `require 'wp-load.php';
      update_option('active_plugins', ['single.php']);
      update_option('template', 'parent');
      update_option('stylesheet', 'child');
      update_site_option('auto_update_plugins', ['forms/forms.php']);
      update_site_option('auto_update_themes', ['other']);
      $offer = (object) ['new_version' => '1.1'];
      set_site_transient('update_plugins', (object) ['response' => ['forms/forms.php' => $offer]]);
      set_site_transient('update_themes', (object) ['response' => [
        'parent' => ['new_version' => '1.1'], 'other' => ['new_version' => '2.0'], 'child' => ['new_version' => ['odd']],
      ]]);
      echo 'done';`,
    )
    expect((await fetchPage(php, testRequest('/run.php', script))).text).toBe('done')
    const { plugins, themes } = await php.runTask('list-plugins', {})
    const own = plugins.filter(({ name }) => name === 'forms' || name === 'single')
    expect(
      own.map(({ name, status, updateVersion, isAutomatic }) => [name, status, updateVersion, isAutomatic]),
    ).toEqual([
      ['forms', 'inactive', '1.1', true],
      ['single', 'active', null, false],
    ])
    const byName = new Map(themes.map(({ name, ...theme }) => [name, theme]))
    expect(byName.get('parent')).toEqual({
      ...{ title: 'Parent', version: '1.0', isActive: true, updateVersion: '1.1', isAutomatic: false },
    })
    expect(byName.get('child')).toMatchObject({ isActive: true, updateVersion: null, isAutomatic: false })
    expect(byName.get('other')).toMatchObject({ isActive: false, updateVersion: null, isAutomatic: true })
  })
})
