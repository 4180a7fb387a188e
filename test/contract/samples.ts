/** The samples and examples of all resources. See `test/support/samples.ts`. */
import { globSync } from 'node:fs'
import type { Examples, Sample } from '../support/samples.ts'

interface Samples {
  readonly samples?: readonly Sample[]
  readonly examples?: Examples
}

const files = globSync('src/resources/*/samples.fixture.ts').sort()
const all = await Promise.all(files.map((file): Promise<Samples> => import(/* @vite-ignore */ `../../${file}`)))

export const samples: readonly Sample[] = all.flatMap((each) => each.samples ?? [])
export const examples: Examples = Object.assign({}, ...all.map((each) => each.examples))
