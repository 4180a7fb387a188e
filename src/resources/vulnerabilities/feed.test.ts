import { describe, expect, test } from 'vitest'
import { vulnerabilitiesIn } from './feed.ts'
import { feedMember } from './vulnerabilities.fixture.ts'

describe('a member of a feed', () => {
  test('becomes a row for each plugin, theme, or WordPress', () => {
    const [software] = feedMember({ slug: 'forms' }).software
    const member = feedMember({
      slug: 'forms',
      more: { software: [software, { ...software, type: 'theme', slug: 'paper', patched_versions: null }, software] },
    })
    const about = {
      ...{ feed_id: 'of-forms', title: 'forms <= 2.0: stored cross-site scripting' },
      ...{ severity: 'medium', tenths: 64, cve: 'CVE-2026-12345', link: 'https://vulnerabilities.example/one' },
      published_at: Date.parse('2026-03-01T12:00:00Z'),
      affected: '[{"from":null,"includesFrom":true,"to":"2.0","includesTo":true}]',
    }
    expect(vulnerabilitiesIn(member)).toEqual([
      { ...about, kind: 'plugin', slug: 'forms', fixed_in: '["2.1"]' },
      { ...about, kind: 'theme', slug: 'paper', fixed_in: '[]' },
    ])
  })

  test('needs neither a score nor anything about it', () => {
    const bare = { cvss: null, cve: null, references: undefined, published: null }
    const unknown = { severity: null, tenths: null, cve: null, link: null, published_at: null }
    expect(vulnerabilitiesIn(feedMember({ slug: 'forms', more: bare }))).toMatchObject([unknown])
    const odd = { cvss: { score: 1, rating: 'None' }, cve: 'x', references: [1, 'javascript:alert(1)'], published: 'x' }
    const told = { ...unknown, tenths: 10 }
    expect(vulnerabilitiesIn(feedMember({ slug: 'forms', more: odd }))).toMatchObject([told])
  })

  test.each<[string, unknown]>([
    ['a text', 'x'],
    ['null', null],
    ['without an ID', { ...feedMember({ slug: 'forms' }), id: undefined }],
    ['with a score beyond the scale', feedMember({ slug: 'forms', more: { cvss: { score: 11, rating: 'High' } } })],
    ['without software', feedMember({ slug: 'forms', more: { software: [] } })],
    ['of another kind of software', feedMember({ slug: 'forms', type: 'server' })],
    ['with a long slug', feedMember({ slug: 'x'.repeat(201) })],
    [
      'without affected versions',
      feedMember({ slug: 'forms', more: { software: [{ type: 'plugin', slug: 'a', affected_versions: {} }] } }),
    ],
  ])('%s is ignored', (_what, member) => {
    expect(vulnerabilitiesIn(member)).toEqual([])
  })

  test('keeps a title on one line, and short', () => {
    const [row] = vulnerabilitiesIn(feedMember({ slug: 'forms', more: { title: `a\n\u0000b${'x'.repeat(900)}` } }))
    expect(row?.title).toMatch(/^a bx{297}$/)
  })
})
