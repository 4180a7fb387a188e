import type { Static, TSchema } from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import {
  type Definition,
  durableWith,
  type FailureContext,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import type { Action } from '../../kit/action.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { MovedMany, MovingServices } from './move-each.ts'

/** The differences between operations that move many sites. */
export interface MovingJob<Schema extends TSchema> {
  readonly name: string
  readonly input: Schema
  /** Moves the sites. */
  sites(context: StepContext<Static<Schema>, MovingServices>): Promise<MovedMany>
  /** Entry of the log when it ends. The numbers of sites follow the text. */
  readonly done: Entry<Schema>
  /** Entry of the log when it fails. The reason follows the text. */
  readonly failed: Entry<Schema>
}

interface Entry<Schema extends TSchema> {
  readonly action: Action
  text(input: Static<Schema>): string
}

/** Declares an operation that moves many sites, each with an operation of its own. */
export function movingJob<Schema extends TSchema>(job: MovingJob<Schema>): Definition<Schema, MovingServices> {
  type Input = Static<Schema>
  async function record(tx: Tx, context: StepContext<Input, MovingServices, { sites: MovedMany }>): Promise<void> {
    const { moved, staying } = context.results.sites
    const message = `${job.done.text(context.input)}: ${moved}. Sites that stayed: ${staying}`
    await changeOfJob(tx, context).record({ action: job.done.action, message })
  }
  async function recordFailure(tx: Tx, context: FailureContext<Input>): Promise<void> {
    if (context.canceled) return
    const message = `${job.failed.text(context.input)} failed: ${context.error}`
    await changeOfJob(tx, context).record({ action: job.failed.action, message })
  }
  return durableWith<MovingServices>()({
    name: job.name,
    input: job.input,
    on: 'control',
    changeableBy: 'account',
    follows: true,
    pausable: true,
    steps: { sites: { run: job.sites }, done: { commit: record } },
    failed: recordFailure,
  })
}
