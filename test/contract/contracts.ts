/** The contracts of all resources. See `test/support/contract.ts`. */
import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Contract, JobRefusal, JobSample, ProblemCase } from '../support/contract.ts'
import type { Examples, Sample } from '../support/samples.ts'

const files = globSync('src/{platform,resources/*}/*.contract.ts').sort()

/** Each with its folder. */
export const contracts: readonly (Contract & { readonly folder: string })[] = await Promise.all(
  files.map(async (file) => {
    const { contract }: { contract: Contract } = await import(/* @vite-ignore */ `../../${file}`)
    return { folder: dirname(file), ...contract }
  }),
)

export const samples: readonly Sample[] = contracts.flatMap((each) => each.samples ?? [])
export const problemCases: readonly ProblemCase[] = contracts.flatMap((each) => each.problems ?? [])
export const jobRefusals: readonly JobRefusal[] = contracts.flatMap((each) => each.jobRefusals ?? [])
export const examples: Examples = Object.assign({}, ...contracts.map((each) => each.examples))
export const jobSamples: Readonly<Record<string, JobSample>> = Object.assign({}, ...contracts.map(({ jobs }) => jobs))
