import { describe, expect, test } from 'vitest'
import { LookIntoDump } from './dump-facts.ts'
import { DumpReader } from './read-dump.ts'

const CORE = ['options', 'posts', 'postmeta', 'users', 'usermeta']

/** Creates the tables of a WordPress, with values of its options. */
function tablesOf(prefix: string, tables: readonly string[] = CORE, options: Readonly<Record<string, string>> = {}) {
  const made = tables.map((table) =>
    table === 'options'
      ? `CREATE TABLE \`${prefix}options\` (option_id int, option_name varchar(191), option_value longtext);`
      : `CREATE TABLE \`${prefix}${table}\` (id int);INSERT INTO \`${prefix}${table}\` VALUES (1);`,
  )
  const rows = Object.entries(options).map(
    ([name, value]) => `INSERT INTO \`${prefix}options\` VALUES (1, '${name}', '${value}');`,
  )
  return [...made, ...rows].join('\n')
}

function look(...parts: readonly string[]): LookIntoDump {
  const look = new LookIntoDump()
  const reader = new DumpReader({ isForeign: true })
  for (const event of reader.write(Buffer.from(`${parts.join('\n')}\n`))) look.take(event)
  for (const event of reader.finish()) look.take(event)
  return look
}

const home = (address: string) => ({ home: address, siteurl: address, other: 'x' })

describe('inspecting a dump', () => {
  test('finds a site with its options, tables, and rows, and tables of no site', () => {
    const { facts, found } = look(tablesOf('wp_', CORE, home('https://a.example')), 'CREATE TABLE other (id int);')
    const options = { home: 'https://a.example', siteurl: 'https://a.example' }
    const site = { prefix: 'wp_', tables: 5, rows: 7, isNetwork: false, hasUsers: true, options }
    expect(facts).toEqual({ tables: 6, rows: 7, sites: [site] })
    expect(found).toEqual({ prefixes: ['wp_'], ...options })
  })

  test('finds two sites: each table belongs to the one with the longest prefix', () => {
    const { facts, found } = look(
      tablesOf('wp_', CORE, home('https://a.example')),
      tablesOf('wp_old_', CORE, home('https://b.example')),
    )
    expect(facts.sites.map(({ prefix, tables, options }) => [prefix, tables, options.home])).toEqual([
      ['wp_', 5, 'https://a.example'],
      ['wp_old_', 5, 'https://b.example'],
    ])
    expect(found).toMatchObject({ prefixes: ['wp_', 'wp_old_'], home: 'https://a.example' })
  })

  test('counts the blogs of a network as part of it, but not a site whose prefix only looks like one', () => {
    const network = tablesOf('wp_', [...CORE, 'blogs', 'site', 'sitemeta'])
    const blog = tablesOf('wp_2_', ['options', 'posts', 'postmeta'])
    expect(look(network, blog).facts.sites).toMatchObject([{ prefix: 'wp_', tables: 11, isNetwork: true }])
    expect(look(network, tablesOf('wp_2_')).found.prefixes).toEqual(['wp_', 'wp_2_'])
    expect(look(blog).facts.sites).toMatchObject([{ prefix: 'wp_2_', hasUsers: false }])
  })

  test('does not take a plugin’s table called options for a WordPress', () => {
    const { found } = look(tablesOf('wp_'), tablesOf('wp_forms_', ['options', 'posts']))
    expect(found.prefixes).toEqual(['wp_'])
  })

  test('finds names in any letter case, and columns that an INSERT names in any order', () => {
    const insert = "INSERT INTO `WP_OPTIONS` (OPTION_VALUE, OPTION_NAME) VALUES ('https://c.example', 'home');"
    expect(look(tablesOf('Wp_'), insert).found).toEqual({ prefixes: ['Wp_'], home: 'https://c.example' })
  })

  test('keeps few bytes, however many tables a dump calls options', () => {
    const large = 'x'.repeat(200_000)
    const sites = Array.from({ length: 60 }, (_, at) => tablesOf(`s${at}x_`, CORE, { blogname: large }))
    const { facts } = look(...sites)
    const kept = facts.sites.reduce((sum, { options }) => sum + (options.blogname ?? '').length, 0)
    expect([facts.sites.length, kept > 1_000_000, kept <= 4 << 20]).toEqual([60, true, true])
  })

  test('ignores sites beyond the hundredth', () => {
    const sites = Array.from({ length: 103 }, (_, at) => tablesOf(`s${at}x_`))
    expect(look(...sites).facts).toMatchObject({ tables: 515, sites: { length: 100 } })
  })
})
