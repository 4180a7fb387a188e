import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CoreProgress } from './core-source.ts'
import { phaseLine, progressBar, progressLine } from './progress-bar.ts'

const halfway: CoreProgress = { source: 'there', phase: 'downloading', receivedBytes: 8 << 20, totalBytes: 16 << 20 }

test('a line says what is done, how far it is, and from where', () => {
  expect(progressLine(halfway, 100)).toBe(
    'Downloading WordPress  [############............] 50%  8.0 MB of 16.0 MB  from there',
  )
  expect(progressLine({ ...halfway, totalBytes: null }, 100)).toBe('Downloading WordPress  8.0 MB  from there')
  expect(progressLine({ ...halfway, phase: 'resolving', receivedBytes: 0, totalBytes: null }, 100)).toBe(
    'Looking for WordPress  from there',
  )
  expect(phaseLine(halfway)).toBe('Downloading WordPress (16.0 MB) from there')
})

test('a line never wraps, whatever the numbers', () => {
  fc.assert(
    fc.property(fc.nat(), fc.option(fc.nat()), fc.nat(200), (receivedBytes, totalBytes, columns) => {
      const line = progressLine({ ...halfway, receivedBytes, totalBytes }, columns)
      expect(line.length).toBeLessThanOrEqual(Math.max(columns - 1, 0))
    }),
  )
})

function recorder(isTTY: boolean) {
  const written: string[] = []
  let time = 0
  const bar = progressBar({ isTTY, columns: 80, write: (text) => written.push(text) }, () => time)
  const at = (ms: number) => {
    time = ms
  }
  return { written, bar, at }
}

test('without a terminal: one line a phase', () => {
  const { written, bar } = recorder(false)
  for (const receivedBytes of [0, 1, 2]) bar.show({ ...halfway, receivedBytes })
  bar.show({ ...halfway, phase: 'unpacking', totalBytes: null })
  bar.done()
  expect(written).toEqual(['Downloading WordPress (16.0 MB) from there\n', 'Unpacking WordPress from there\n'])
})

test('on a terminal: one line drawn over, not more often than it can be seen, and gone at the end', () => {
  const { written, bar, at } = recorder(true)
  for (const ms of [0, 10, 20, 150]) {
    at(ms)
    bar.show(halfway)
  }
  bar.show({ ...halfway, receivedBytes: 16 << 20 })
  bar.done()
  expect(written).toHaveLength(4)
  for (const text of written) {
    expect(text.startsWith('\r\u001b[2K')).toBe(true)
    expect(text).not.toContain('\n')
  }
  expect(written.at(-1)).toBe('\r\u001b[2K')
})
