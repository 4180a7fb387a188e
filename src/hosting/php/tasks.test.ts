import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PhpTaskError } from './task-error.ts'
import { checkedTaskOutput, checkTaskInput, type TaskName, type TaskOutput, taskNames } from './tasks.ts'

type Samples = { [Name in TaskName]: { right: TaskOutput<Name>[]; wrong: unknown[] } }

const listed = {
  ...({ file: 'a/a.php', name: 'a', title: 'A', description: 'b', version: '5.0' } as const),
  ...({ status: 'active', update: 'none', updateVersion: null } as const),
}

const theme = { name: 'a', title: 'A', version: '5.0', isActive: true, updateVersion: null, isAutomatic: false }

/** Sample answers of each task: valid ones, and ones that a hostile plugin could give in its place. */
const samples: Samples = {
  'check-copy': { right: [{ home: 'http://a.localhost' }], wrong: [{ home: 5 }, {}] },
  'check-php': {
    right: [{ fault: null }, { fault: { message: 'syntax error, unexpected end of file', line: 3 } }],
    wrong: [{}, { fault: 'x' }, { fault: { message: 'x', line: -1 } }],
  },
  'check-site': {
    right: [
      { title: '', page: null },
      { title: '<b>$(id)</b>', page: { headers: ['Link', '</>'], body: 'PGI+' } },
    ],
    wrong: [
      { title: 5, page: null },
      { title: '', page: '<b>' },
      { title: '', page: { headers: [['Link', '</>']], body: '' } },
    ],
  },
  cron: {
    right: [
      { ran: 0, failed: [], passed: [], isMore: false, blogs: [], nextInSeconds: null },
      {
        ...{ ran: 3, failed: ['hook', '7'], passed: ['other'], isMore: true, nextInSeconds: 12 },
        blogs: [{ domain: 'a.localhost:8081', path: '/two/' }],
      },
    ],
    wrong: [
      { ran: -1 },
      { failed: 'xxxxx' },
      { failed: [7] },
      { nextInSeconds: -5 },
      { nextInSeconds: Number.POSITIVE_INFINITY },
      { nextInSeconds: undefined },
      { isMore: 'no' },
      { blogs: [{ domain: 'a.localhost/', path: '/' }] },
      { blogs: [{ domain: 'a.localhost', path: '/../' }] },
    ].map((odd) => ({ ran: 1, failed: [], passed: [], isMore: false, blogs: [], nextInSeconds: 1, ...odd })),
  },
  'delete-plugin': { right: [{ deleted: true }], wrong: [{ deleted: false }, {}] },
  'delete-user': {
    right: [
      { deleted: false, heir: null },
      { deleted: true, heir: 'admin' },
    ],
    wrong: [{ deleted: 1, heir: null }, { deleted: true }, { deleted: true, heir: ['admin'] }],
  },
  'ensure-administrator': {
    right: [
      { login: 'ann', created: true },
      { login: 'ä'.repeat(60), created: false },
    ],
    wrong: [
      { login: '', created: true },
      { login: 'x'.repeat(61), created: true },
      { login: 'a\nb', created: true },
      { login: { toString: 'x' }, created: true },
      { login: 'ann', created: 'yes' },
    ],
  },
  'flush-object-cache': {
    right: [{ flushed: true, dropIn: false }],
    wrong: [{ flushed: false, dropIn: false }, { flushed: true }],
  },
  install: { right: [{ user: 1 }], wrong: [{ user: '1' }, { user: 0 }, { user: 1.5 }] },
  'make-network': {
    right: [
      { networkId: 1, blogId: 1, path: '/', isSubdomainInstall: false },
      { networkId: 2, blogId: 3, path: '/a/b.c/', isSubdomainInstall: true },
    ],
    wrong: [
      { networkId: '1', blogId: 1, path: '/', isSubdomainInstall: false },
      { networkId: 1, blogId: "1);system('id'", path: '/', isSubdomainInstall: false },
      { networkId: 1, blogId: 1, path: "/');system('id');//", isSubdomainInstall: false },
      { networkId: 1, blogId: 1, path: '/../', isSubdomainInstall: false },
      { networkId: 1, blogId: 1, path: '/\n', isSubdomainInstall: false },
      { networkId: 1, blogId: 1, path: 'no slash', isSubdomainInstall: false },
      { networkId: 1, blogId: 1, path: `/${'x'.repeat(100)}/`, isSubdomainInstall: false },
      { networkId: 1, blogId: 1, path: '/', isSubdomainInstall: 'true' },
      { networkId: 0, blogId: 1, path: '/', isSubdomainInstall: false },
    ],
  },
  'inner-page': {
    right: [{ status: 200, isWhole: true, isRedirect: false, databaseErrors: ['no such table'] }],
    wrong: [{ status: 200 }, { status: 200, isWhole: true, isRedirect: false, databaseErrors: [7] }],
  },
  'front-page': {
    right: [{ status: 200, bytes: 0, databaseErrors: [] }],
    wrong: [
      { status: '200', bytes: 0, databaseErrors: [] },
      { status: 200, bytes: 0 },
    ],
  },
  'list-plugins': {
    right: [
      { plugins: [], themes: [] },
      {
        plugins: [listed, { ...listed, update: 'available', updateVersion: '6.0', isAutomatic: true }],
        themes: [theme],
      },
    ],
    wrong: [
      {},
      { plugins: [] },
      { plugins: Array(2001).fill(listed), themes: [] },
      ...[{ name: '' }, { title: 'x'.repeat(201) }, { isActive: 'yes' }, { updateVersion: 7 }, { path: '/a' }].map(
        (odd) => ({ plugins: [], themes: [{ ...theme, ...odd }] }),
      ),
      ...[
        { status: 'odd' },
        { update: 'no' },
        { name: 'x'.repeat(201) },
        { description: 'x'.repeat(2001) },
        { file: '' },
      ].map((odd) => ({ plugins: [{ ...listed, ...odd }], themes: [] })),
    ],
  },
  'set-active-plugins': { right: [{ dropIn: false }], wrong: [{}, { dropIn: 'no' }] },
  'switch-plugin': { right: [{ isActive: true }], wrong: [{ isActive: 1 }, {}] },
  'upgrade-plugin': {
    right: [{ file: 'a/a.php', version: '', isActive: true }],
    wrong: [
      { file: '', version: '1', isActive: true },
      { file: 'a/a.php', isActive: true },
      { file: 'a/a.php', version: '1' },
      { file: 'a/a.php', version: 1, isActive: true },
    ],
  },
  'upgrade-theme': { right: [{ version: '2.0' }], wrong: [{}, { version: 2 }, { version: 'x'.repeat(101) }] },
  'newest-pages': {
    right: [{ pages: [] }, { pages: [{ kind: 'cart', path: '/?page_id=7' }] }],
    wrong: [
      {},
      ...[{ kind: 'odd' }, { path: 'cart' }, { path: '/a b' }, { path: '/ä' }, { path: `/${'x'.repeat(500)}` }].map(
        (odd) => ({ pages: [{ kind: 'cart', path: '/cart/', ...odd }] }),
      ),
      { pages: Array(5).fill({ kind: 'cart', path: '/cart/' }) },
    ],
  },
  'make-shop-pages': { right: [{ pages: 4 }], wrong: [{ pages: '4' }, {}] },
  'move-in': { right: [[]], wrong: [[1]] },
  'fit-network': { right: [{ moved: 0 }], wrong: [{ moved: -1 }, {}] },
  'count-rows': {
    right: [{ tables: [] }, { tables: [{ table: 'wp_posts', rows: 3 }] }],
    wrong: [{}, { tables: [{ table: 'wp_posts', rows: -1 }] }, { tables: [{ table: 'x'.repeat(801), rows: 1 }] }],
  },
  'newer-than': {
    right: [
      { counts: [], newest: [] },
      {
        counts: [{ table: 'wp_posts', kind: 'post', new: 3, changed: 1 }],
        newest: [{ table: 'wp_posts', kind: 'post', id: 7, title: 'ä'.repeat(200), at: '2026-01-31 09:30:00' }],
      },
    ],
    wrong: [
      { counts: [] },
      { counts: [{ table: 'wp_posts', kind: 'post', new: -1, changed: 0 }], newest: [] },
      { counts: [], newest: [{ table: 'wp_posts', kind: 'post', id: 7, title: 'x'.repeat(801), at: '' }] },
      { counts: [], newest: [{ table: 'wp_posts', kind: 'post', id: '7', title: '', at: '' }] },
    ],
  },
  'php-info': {
    right: [
      { version: '8.3.1', opcache: null },
      { version: '8.1.0-dev', opcache: { scripts: 1, usedBytes: 2, freeBytes: 3, hitRate: 99.5 } },
    ],
    wrong: [{ version: 'eight', opcache: null }, { version: '8.3.1' }, { version: '8.3.1', opcache: {} }],
  },
  'replace-address': { right: [{ rows: 0 }], wrong: [{ rows: -1 }, { rows: '5' }] },
  'reset-administrator': {
    right: [{ login: 'ann', created: true, dropIn: false }],
    wrong: [
      { login: 'ann', created: true },
      { login: '', created: true, dropIn: false },
    ],
  },
  'reset-password': {
    right: [{ id: 1, login: 'ann', email: 'ann@example.com', dropIn: false }],
    wrong: [{ id: '1', login: 'ann', email: 'ann@example.com', dropIn: false }, { id: 1 }],
  },
  'upgrade-blogs': {
    right: [{ last: 3, upgraded: 2, left: 0 }],
    wrong: [
      { last: 3, upgraded: 2 },
      { last: -1, upgraded: 0, left: 0 },
    ],
  },
  'upgrade-database': { right: [{ upgraded: false }], wrong: [{}, { upgraded: 1 }] },
  'use-http': { right: [{ changed: true }], wrong: [{}, { changed: 1 }] },
  'site-title': {
    right: [{ title: 't', home: 'h', siteurl: 's', version: '6.8' }],
    wrong: [{ title: 't', home: 'h', siteurl: 's', version: 6.8 }],
  },
  'log-in': {
    right: [
      { cookies: [{ name: 'wordpress_1a', value: 'a|1|b', path: '/', domain: '', isSecure: false }], dropIn: false },
    ],
    wrong: [
      { cookies: [], dropIn: false },
      ...[{ name: 'a;b' }, { path: 'wp-admin' }, { path: '/\r\nX: y' }, { domain: 'a; b' }, { value: '' }].map(
        (odd) => ({
          cookies: [{ name: 'a', value: 'b', path: '/', domain: '', isSecure: false, ...odd }],
          dropIn: false,
        }),
      ),
    ],
  },
  'write-license': { right: [{ dropIn: false }], wrong: [{}, { dropIn: 0 }] },
}

describe('tasks', () => {
  it('match the PHP files', () => {
    const shared = [
      'cache-functions',
      'changes',
      'check-writes',
      'command',
      'database-admin',
      'mail',
      'native',
      'object-cache',
      'own-cron',
      'plugin-upgrader',
      'plugin-work',
      'prepend',
      'run-task',
      'safe-mode',
      'shown',
      'sql-client',
      'theme-upgrader',
      'user-by-email',
    ]
    const files = readdirSync(new URL('tasks', import.meta.url)).filter((name) => name.endsWith('.php'))
    const names = files.map((name) => name.slice(0, -4)).filter((name) => !shared.includes(name))
    expect(taskNames.toSorted()).toEqual(names.toSorted())
  })

  it.each(taskNames)('%s: accepts an answer of its form, and refuses any other without quoting it', (name) => {
    const { right, wrong } = samples[name]
    for (const answer of right) expect(checkedTaskOutput(name, answer)).toEqual(answer)
    const extra = right.filter((answer) => !Array.isArray(answer)).map((answer) => ({ ...answer, more: 1 }))
    for (const answer of [...wrong, ...extra, undefined, null, 5, 'secret', ['secret'], { secret: 'secret' }])
      expect(() => checkedTaskOutput(name, answer), JSON.stringify(answer)).toThrow(
        new PhpTaskError(`the result does not have its form (task ${name})`),
      )
  })

  it('take only the expected input, and a refusal reveals no password', () => {
    checkTaskInput('reset-password', { login: 'ann', password: 'x' })
    checkTaskInput('ensure-administrator', { email: 'e', name: 'n', login: 'l' })
    expect(() => checkTaskInput('reset-password', { password: 'hush' })).toThrow(
      new TypeError('the input does not fit the task reset-password'),
    )
    expect(() => checkTaskInput('php-info', { more: 1 })).toThrow(TypeError)
  })
})
