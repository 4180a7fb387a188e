import { describe, expect, test } from 'vitest'
import { answersOtherwise, isMuchSlower, steadyPart, worseIn } from './compare-looks.ts'
import { countedTags, type PageLook } from './look-at-page.ts'

const words = (count: number) => Array.from({ length: count }, (_, number) => `word${number}`)

const look = (more: Partial<PageLook> = {}): PageLook => ({
  ...{ status: 200, location: '', title: 'Shop', words: words(100), ms: 100 },
  tags: { ...(Object.fromEntries(countedTags.map((tag) => [tag, 0])) as PageLook['tags']), form: 1, nav: 2 },
  ...more,
})
const worse = (after: Partial<PageLook>, before: [Partial<PageLook>, Partial<PageLook>] = [{}, {}]) =>
  worseIn(steadyPart(look(before[0]), look(before[1])), look(after))

describe('a page after an update', () => {
  test.each<[what: string, after: Partial<PageLook>, says: string[]]>([
    ['is the same', {}, []],
    ['has more words and elements', { words: words(200), tags: { ...look().tags, table: 3 } }, []],
    ['has a few words less', { words: words(90) }, []],
    ['does not answer', { status: 0 }, ['PHP does not answer']],
    ['has an error', { status: 500 }, ['status 200 became 500']],
    ['is gone', { status: 404 }, ['status 200 became 404']],
    ['has another title', { title: 'Error' }, ['the title “Shop” became “Error”']],
    [
      'has lost words',
      { words: words(80) },
      ['20 of 100 words are missing: word80, word81, word82, word83, word84, …'],
    ],
    ['has lost its form', { tags: { ...look().tags, form: 0 } }, ['the page no longer has <form>']],
  ])('%s', (_what, after, says) => {
    expect(worse(after)).toEqual(says)
  })

  test('redirects to another place', () => {
    const redirect = { status: 302, location: '/login/' }
    expect(worse(redirect, [redirect, redirect])).toEqual([])
    expect(worse({ ...redirect, location: '/broken/' }, [redirect, redirect])).toEqual([
      'it redirects to /broken/ instead of /login/',
    ])
  })

  test('is not judged by what changes without an update', () => {
    const other = { title: 'Other', words: [...words(40), 'more'], tags: { ...look().tags, form: 0 } }
    expect(worse(other, [{}, other])).toEqual([])
    expect(worse({ title: 'Third', words: words(40) }, [{}, other])).toEqual([])
    expect(worse({ status: 404 }, [{}, { status: 302 }])).toEqual([])
  })

  test('is not judged by what each of several looks may have', () => {
    const quotes = [0, 20, 40].map((first) => words(60).slice(first, first + 20))
    const showing = (...numbers: number[]) =>
      numbers.map((number) =>
        look({ words: [...words(100).slice(60), ...(quotes[number] ?? [])], title: `Quote ${number}` }),
      ) as [PageLook, ...PageLook[]]
    expect(worseIn(steadyPart(...showing(0, 0, 1)), ...showing(2))).toEqual([])
    const before = steadyPart(...showing(0, 0))
    expect(worseIn(before, ...showing(1))).toHaveLength(2)
    expect(worseIn(before, ...showing(1, 0, 2))).toEqual([])
    expect(worseIn(before, ...showing(1, 2))).toHaveLength(2)
  })

  test('is judged by its last status, and by the content of answers with that status', () => {
    const before = steadyPart(look(), look())
    const broken = look({ status: 500, words: [], title: 'Error' })
    expect(worseIn(before, look(), broken)).toEqual(['status 200 became 500'])
    expect(worseIn(before, broken, look({ words: words(50) }))).toHaveLength(1)
    expect(worseIn(before, { ...look(), status: 500 }, look({ words: words(50) }))).toHaveLength(1)
    expect([look(), broken].map((each) => answersOtherwise(before, each))).toEqual([false, true])
  })

  test('is not judged if it was broken before', () => {
    expect(worse({ status: 500 }, [{ status: 500 }, { status: 500 }])).toEqual([])
    expect(worse({}, [{ status: 0 }, { status: 0 }])).toEqual([])
  })

  test('is slow only if it takes several times as long', () => {
    const before = steadyPart(look({ ms: 100 }), look({ ms: 600 }))
    expect([2000, 2500, 3000].map((ms) => isMuchSlower(before, { ms }))).toEqual([false, false, true])
  })
})
