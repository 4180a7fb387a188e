/**
 * What the contract tests need to know of a resource, beside its code. Each resource has its own, in
 * `<resource>.contract.ts` of its folder, and `test/contract/contracts.ts` collects them.
 */

import type { FastifyInstance } from 'fastify'
import type { EnqueueOptions } from '../../src/platform/operations/enqueue.ts'
import type { ProblemCode } from '../contract/problems.ts'
import type { Walk } from '../contract/walk.ts'
import type { Person, TestApi } from './api.ts'
import type { FakeHost } from './fake-host.ts'
import type { Example, Examples, Sample, Scene } from './samples.ts'

export interface Contract {
  /**
   * A request for each of its endpoints, with the roles that the API's rules require: `permissions.test.ts` sends them.
   */
  readonly samples?: readonly Sample[]
  /**
   * What the contract tests cannot derive from a schema. An endpoint needs one only when its required fields have a
   * pattern or a meaning, when its path names more than a site, or when the sample of its schema would change nothing.
   * Each one succeeds for the owner of `siteId`.
   */
  readonly examples?: Examples
  /** A request that causes each problem that an endpoint declares itself: `problems.test.ts` sends them. */
  readonly problems?: readonly ProblemCase[]
  /** Endpoints that change something and leave no entry in the activity log, and why. */
  readonly unrecorded?: Readonly<Record<string, string>>
  /** The webhook events of each endpoint, in order: `records.test.ts` sees them. Those of its jobs are not here. */
  readonly events?: Readonly<Record<string, readonly string[]>>
  /** The endpoint or job that causes each other event, and the test that sees it. Default: the sample of the job. */
  readonly causes?: Readonly<Record<string, { readonly cause: string; readonly seenIn?: string }>>
  /** A sample of each of its jobs: `walk-jobs.ts` interrupts each step with it. */
  readonly jobs?: Readonly<Record<string, JobSample>>
  /** A fault for each `PermanentFailure` of its jobs. */
  readonly jobRefusals?: readonly JobRefusal[]
}

/** The environment of problem cases. */
export interface Stage {
  readonly tour: Walk
  /** Shared by cases that leave no trace. */
  readonly shared: Scene
  /**
   * An instance of the API on the same database that accepts no body, opens no stream, and accepts one request a minute
   * from each client.
   */
  readonly strict: FastifyInstance
  /** An instance without memory to hash passwords. */
  readonly busy: FastifyInstance
  /** An instance whose database only throws `failure`: always, or only in transactions. */
  readonly failing: FastifyInstance
  failure: { readonly error: unknown; readonly ofReads: boolean }
}

/** A request that an endpoint refuses. */
export interface ProblemCase {
  readonly of: readonly string[]
  readonly code: ProblemCode
  /** Default: the example of the endpoint. */
  example?(scene: Scene): Example | Promise<Example>
  readonly headers?: Record<string, string>
  /**
   * Runs after the example.
   * @returns optionally a function that restores shared things after the request
   */
  prepare?(scene: Scene, stage: Stage): Promise<unknown>
  /** Default: the owner. */
  by?(scene: Scene): Person
  readonly on?: 'strict' | 'busy'
}

/** The environment of jobs, created again for each run. */
export interface JobWorld {
  readonly api: TestApi
  readonly host: FakeHost
  readonly owner: Person
  readonly mate: Person
  /** Live in the control database only. */
  readonly site: number
  /** Message-IDs that the mail server has. */
  readonly mails: Set<string>
  /** The times of log maintenance. */
  readonly maintained: number[]
  /** Run after the test, in order. */
  readonly leftovers: (() => Promise<unknown>)[]
}

/** One run of a job: its input, what must hold after success, and what is left after failure. */
export interface JobSample {
  /**
   * Creates the subject of the work.
   * @returns its input, and additional options to enqueue it with
   */
  prepare(world: JobWorld): Promise<{ input: object; options?: EnqueueOptions }>
  /** Checks what must hold after it succeeded, however often it was interrupted. */
  done(world: JobWorld): Promise<void>
  /** Required if a step has an undo: what must hold after it failed. */
  left?(world: JobWorld): Promise<void>
}

/** The input of the sample. A refusal may change it. */
// biome-ignore lint/suspicious/noExplicitAny: input of any definition
export type JobInput = any

/**
 * A permanent refusal of background work, although its request was valid: a site is deleted while its operation waits, a
 * backup is deleted, WordPress refuses. It is one fault in what the sample prepared, and the error of its operation.
 */
export interface JobRefusal {
  readonly type: string
  /** The error of its operation. */
  readonly says: string
  /** The step after which the fault is created. Default: before the first step. */
  readonly after?: string
  /** A retry may help, so the operation has failed only after the last attempt. */
  readonly isTriedAgain?: boolean
  /** Creates the fault. */
  wrong(world: JobWorld, input: JobInput): Promise<unknown> | unknown
}
