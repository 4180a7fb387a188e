import { describe, expect, test } from 'vitest'
import { readPage, sameWords } from './page-text.ts'

describe('a page', () => {
  test('has a title, words and links; what it hides does not count', () => {
    const page = readPage(`<TITLE>Two
      boats</title><style>p { color: red }</style><p class="wide">A Boot&nbsp;und
      <script>let count = '<a href="/hidden/">'</script><a class=x href="/about/">Über</a> uns <a href='/x/#top'>top</a>`)
    expect(page.title).toBe('Two boats')
    expect([...page.words]).toEqual(['two', 'boats', 'boot', 'und', 'über', 'uns', 'top'])
    expect(page.links).toEqual(['/about/'])
  })

  test('that ends in the middle of a tag or a script is read to there', () => {
    expect([...readPage('one1 <b>two2 <i').words]).toEqual(['one1', 'two2'])
    expect([...readPage('one1 <script>two2').words]).toEqual(['one1'])
  })

  // Each of these would take hours if the parser read every character more than a few times.
  test.each(['<', '<script', '<a ', '<a href="', '&', '<title', 'a', '<a href=" '])(
    'of nothing but %j takes no longer than another one',
    (piece) => {
      expect(readPage(piece.repeat(2_000_000 / piece.length)).links).toEqual([])
    },
  )

  test('counts 20,000 words at most', () => {
    const words = (from: number) => Array.from({ length: 30_000 }, (_, index) => `word${from + index}`).join(' ')
    expect(readPage(words(0)).words.size).toBe(20_000)
  })
})

test.each([
  ['one1 two2', 'two2 one1', 100],
  ['one1 two2', 'two2 three', 33],
  ['', '<p>', 100],
  ['one1', '', 0],
])('%j and %j have the same words in %d percent', (one, other, share) =>
  expect(sameWords(readPage(one), readPage(other))).toBe(share),
)
