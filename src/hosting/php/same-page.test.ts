import { describe, expect, test } from 'vitest'
import { compareLines, marksOf, otherPage } from './same-page.ts'

const page = (lines: string[], more: object = {}) => ({
  ...{ status: 200, location: '' },
  text: ['<html>', ...lines, '</html>'].join('\n'),
  ...more,
})

describe('a page compared with its earlier version', () => {
  const before = marksOf(page(['one', 'two', 'at 12:00']), page(['one', 'two', 'at 12:01']))

  test('is the same, whatever the lines contain that change each time', () => {
    const now = page(['one', '  two', 'at 12:02'])
    expect([otherPage(before, now), compareLines(before, now)]).toEqual([undefined, { lines: 4, changed: 0 }])
  })

  test('counts lines that are gone', () => {
    const now = page(['one', 'another'])
    expect([otherPage(before, now), compareLines(before, now)]).toEqual([undefined, { lines: 4, changed: 1 }])
  })

  test('is different with another status or redirect, or if PHP broke it off', () => {
    expect(otherPage(before, page(['one'], { status: 404 }))).toContain('404 there, but with 200 here')
    expect(otherPage(before, page(['one'], { location: '/elsewhere' }))).toContain('redirects to another URL')
    expect(otherPage(before, { status: 200, location: '', text: '<html>\none\n' })).toContain('is incomplete there')
  })

  test('needs no end if it had none before', () => {
    const feed = { status: 200, location: '', text: '{}' }
    expect(otherPage(marksOf(feed, feed), feed)).toBeUndefined()
  })

  test('keeps no more of a long page than is compared', () => {
    const long = page(Array.from({ length: 100_000 }, (_, n) => `line ${n}`))
    expect(marksOf(long, long).lines.length).toBeLessThanOrEqual(2000)
  })
})
