import { expect, test } from 'vitest'
import { readDeadline, readWindow, turnOfDrain } from './drain-times.ts'

const at = (time: string) => Date.parse(`2026-05-04T${time}Z`)

test('begins moves inside the window, also across midnight', () => {
  const turns = (window: string) =>
    ['00:59', '01:00', '04:59', '05:00'].map((time) => turnOfDrain({ window }, at(`${time}:30`)))
  expect(turns('01:00-05:00')).toEqual(['later', 'now', 'now', 'later'])
  expect(turns('05:00-01:00')).toEqual(['now', 'later', 'later', 'now'])
  expect(turnOfDrain({}, at('12:00:00'))).toBe('now')
})

test('begins no move after the deadline, inside or outside of the window', () => {
  const deadline = '2026-05-04T03:00:00Z'
  expect(turnOfDrain({ deadline }, at('02:59:59'))).toBe('now')
  for (const window of [undefined, '01:00-05:00', '10:00-11:00'])
    expect(turnOfDrain({ deadline, window }, at('03:00:00'))).toBe('never')
})

test('reads windows and deadlines, and nothing else', () => {
  expect(readWindow('22:15-05:00')).toEqual({ from: 1335, to: 300 })
  for (const text of ['', '1:00-5:00', '01:00', '24:00-05:00', '01:60-05:00', '01:00-01:00', '01:00-05:00 ', '01-05'])
    expect(readWindow(text)).toBeUndefined()
  expect(readDeadline('2026-05-04T03:00Z')).toBe(at('03:00:00'))
  for (const text of ['', 'tomorrow', '2026-05-04', '2026-05-04T03:00:00', '2026-13-04T03:00:00Z', '2026-05-04 03:00Z'])
    expect(readDeadline(text)).toBeUndefined()
})
