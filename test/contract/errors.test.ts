import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { apiProblems } from '../../src/app.ts'

/** `npm run docs:errors` writes the table of `docs/errors.md` again. */
const PAGE = 'docs/errors.md'

it('docs/errors.md has every problem with its status, text and remedy', async () => {
  const cells = apiProblems.map(({ code, status, text, remedy }) => [`\`${code}\``, status, text, remedy].join(' | '))
  const table = cells.map((row) => `| ${row} |\n`).join('')
  const page = readFileSync(PAGE, 'utf8').replace(/(?<=^\| --- .*\n)(\|.*\n)*/m, () => table)
  expect(page).toContain(table)
  await expect(page).toMatchFileSnapshot(`../../${PAGE}`)
})

/** The exact texts of the API description. */
const asDescribed = ['invalid_input', 'ssl_only_a_records', 'ssl_nothing_found', 'invalid_ssl_record']

it('problems have unique codes, and a text and a remedy that end with a full stop', () => {
  expect(new Set(apiProblems.map(({ code }) => code)).size).toBe(apiProblems.length)
  for (const { code, text, remedy } of apiProblems.filter((each) => !asDescribed.includes(each.code)))
    expect([code, text, remedy]).toEqual([code, expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)])
})
