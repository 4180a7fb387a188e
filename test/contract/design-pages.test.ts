/** The tour and the rules of the house name files and functions. A renamed one would make readers doubt the rest. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const textOf = (page: string) => readFileSync(`docs/design/${page}`, 'utf8').replace(/\s+/g, ' ')
const PATH = /`((?:src|test|migrations|docs)\/[\w./-]+\.\w+)`/g
/** A file, and the names in parentheses behind it or with it. */
const NAMED = /`(src\/[\w./-]+\.\w+)`(?: \(((?:`\w+`(?:, )?)+)\)|, ((?:`\w+`(?:, )?)+)\))/g

it.each(['tour.md', 'house.md'])('%s names files that exist', (page) => {
  const named = [...textOf(page).matchAll(PATH)].map(([, file = '']) => file)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((file) => !existsSync(file))).toEqual([])
})

it('the tour names functions that its files have', () => {
  const named = [...textOf('tour.md').matchAll(NAMED)].flatMap(([, file = '', own, together]) =>
    [...(own ?? together ?? '').matchAll(/\w+/g)].map(([name]) => ({ file, name })),
  )
  expect(named.length).toBeGreaterThan(60)
  const isIn = ({ file, name }: { file: string; name: string }) =>
    new RegExp(`\\b(?:function\\*?|class|const|let) ${name}\\b`).test(readFileSync(file, 'utf8'))
  expect(named.filter((each) => !isIn(each))).toEqual([])
})
