import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { MeasuredPlace, Sample } from './measurer.ts'

export interface Measuring {
  readonly samples: readonly Sample[]
  stop(): void
}

/** Starts to measure. A sample exists as soon as its response does. */
export function measure(place: MeasuredPlace): Measuring {
  const samples: Sample[] = []
  const child = fork(join(import.meta.dirname, 'measurer.ts'), { execArgv: [] })
  child.on('message', (sample: Sample) => samples.push(sample))
  child.send(place)
  return { samples, stop: () => void child.kill('SIGKILL') }
}
