import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everySoOften, type Progress, progressBar, progressText } from './progress-bar.ts'

const halfway: Progress = { doing: 'Downloading it', from: 'there', receivedBytes: 8 << 20, totalBytes: 16 << 20 }
const installing: Progress = { doing: 'Installing it', receivedBytes: 0, totalBytes: null }
const WIPE = '\r\u001b[2K'

test('shows the work, the progress, the source, and the time once that is long', () => {
  expect(progressText(halfway, 0.9, true)).toBe(
    'Downloading it  [############............]  50%  8.0 MB of 16.0 MB  from there',
  )
  expect(progressText(halfway, 2.7, false)).toBe('Downloading it  50%  8.0 MB of 16.0 MB  from there  2 s')
  expect(progressText({ ...halfway, totalBytes: null }, 0, false)).toBe('Downloading it  8.0 MB  from there')
})

test('moves the bar back and forth if the total is unknown', () => {
  expect([0, 0.5, 5, 6, 10].map((seconds) => progressText(installing, seconds, true))).toEqual([
    'Installing it  [####....................]',
    'Installing it  [..####..................]',
    'Installing it  [....................####]  5 s',
    'Installing it  [................####....]  6 s',
    'Installing it  [####....................]  10 s',
  ])
})

function recorder(isTTY: boolean, columns = 80) {
  const written: string[] = []
  let time = 0
  const bar = progressBar({ isTTY, columns, write: (text) => written.push(text) }, () => time)
  const tickAt = (ms: number) => {
    time = ms
    bar.tick()
  }
  return { written, bar, tickAt }
}

test('never wraps a line, whatever the numbers', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.option(fc.nat()),
      fc.integer({ min: 1, max: 200 }),
      (receivedBytes, totalBytes, columns) => {
        const { written, bar } = recorder(true, columns)
        bar.show({ ...halfway, receivedBytes, totalBytes })
        expect((written[0] as string).length).toBeLessThanOrEqual(WIPE.length + columns - 1)
      },
    ),
  )
})

test('without a terminal: prints one line per phase, and another before two silent seconds pass', () => {
  const { written, bar, tickAt } = recorder(false)
  for (const receivedBytes of [0, 8 << 20]) bar.show({ ...halfway, receivedBytes })
  for (const ms of [500, 1000, 1600, 2000, 3000, 3200]) tickAt(ms)
  bar.show(installing)
  tickAt(4600)
  bar.done()
  tickAt(9000)
  expect(written).toEqual([
    'Downloading it  0%  0.0 MB of 16.0 MB  from there\n',
    'Downloading it  50%  8.0 MB of 16.0 MB  from there  1 s\n',
    'Downloading it  50%  8.0 MB of 16.0 MB  from there  3 s\n',
    'Installing it\n',
  ])
})

test('on a terminal: redraws one line, again with each tick, and removes it at the end', () => {
  const { written, bar, tickAt } = recorder(true)
  bar.show(installing)
  tickAt(500)
  tickAt(2500)
  bar.done()
  tickAt(9000)
  bar.show(halfway)
  expect(written).toEqual([
    `${WIPE}Installing it  [####....................]`,
    `${WIPE}Installing it  [..####..................]`,
    `${WIPE}Installing it  [..........####..........]  2 s`,
    WIPE,
  ])
})

test('passes on as many updates of a download as are visible', () => {
  let time = 0
  const shown: Progress[] = []
  const show = everySoOften(
    (progress) => shown.push(progress),
    () => time,
  )
  const at = (ms: number, receivedBytes: number) => {
    time = ms
    show({ ...halfway, receivedBytes })
  }
  at(0, 1)
  at(10, 2)
  at(99, 3)
  at(120, 4)
  at(121, 16 << 20)
  show(installing)
  expect(shown.map(({ receivedBytes }) => receivedBytes)).toEqual([1, 4, 16 << 20, 0])
})
