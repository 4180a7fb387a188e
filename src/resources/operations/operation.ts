import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { OperationView, Visible } from '../../platform/operations/read.ts'
import type { SiteResult } from '../../platform/operations/results.ts'

export const operationStates = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const

export const OperationId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const StepBytes = Type.Object(
  { done: Type.Integer({ examples: [1048576] }), total: Type.Integer({ examples: [52428800] }) },
  {
    title: 'StepBytes',
    description: 'Progress of a step that transfers bytes. The total may be an estimate until the end',
  },
)

export const OperationAction = Type.Object(
  {
    action: oneOf(['cancel', 'retry', 'undo', 'pause', 'continue'], { examples: ['undo'] }),
    allowed: Type.Boolean(),
    reason: nullable(Type.String({ description: 'Error that the action would return', examples: [null] })),
  },
  { title: 'OperationAction' },
)
export type OperationAction = Type.Static<typeof OperationAction>

export const OperationSchema = Type.Object(
  {
    id: Type.Integer(),
    type: Type.String({ description: 'Type of the operation, such as site.provision', examples: ['site.provision'] }),
    siteId: nullable(Type.Integer()),
    siteName: Type.Optional(
      nullable(
        Type.String({
          description: 'Display name of the site. Null if the site is not there. Only present in lists',
          examples: ['My first site'],
        }),
      ),
    ),
    accountEmail: Type.Optional(
      nullable(
        Type.String({
          description: 'Person who asked for the operation. Null if Stead started it. Only present in lists',
          examples: ['owner@example.com'],
        }),
      ),
    ),
    state: oneOf(operationStates, { examples: ['succeeded'] }),
    progress: Type.Integer({ description: '0 to 100', examples: [100] }),
    steps: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['files'] }),
          state: Type.String({ examples: ['succeeded'] }),
          startedAt: nullable(Timestamp),
          finishedAt: nullable(Timestamp),
          error: nullable(Type.String({ examples: [null] })),
          warning: nullable(Type.String({ description: 'What a completed step could not do', examples: [null] })),
          bytes: nullable(StepBytes),
          secondsLeft: nullable(
            Type.Integer({
              description: 'Estimated seconds until the step is completed. Null if unknown',
              examples: [null],
            }),
          ),
        },
        { title: 'OperationStep' },
      ),
    ),
    results: Type.Optional(
      Type.Array(
        Type.Object(
          {
            siteId: Type.Integer(),
            subject: nullable(
              Type.String({
                description: 'Part of the site that the result is about, such as a plugin',
                examples: [null],
              }),
            ),
            outcome: Type.String({
              description: 'Outcome, such as added, updated, unchanged, removed, absent, skipped or failed',
              examples: ['added'],
            }),
            message: nullable(Type.String({ examples: [null] })),
            operationId: nullable(
              Type.Integer({
                description: 'Id of the operation that completes the work on that site',
                examples: [null],
              }),
            ),
          },
          { title: 'SiteResult' },
        ),
        {
          description: 'Results for each site, or each part of a site. Only present if you get one operation by its id',
        },
      ),
    ),
    actions: Type.Optional(
      Type.Array(OperationAction, {
        description:
          'Actions that the state of the operation allows, and whether you have access. Not present in streams and in responses to changes',
      }),
    ),
    attempts: Type.Integer(),
    error: nullable(
      Type.String({
        description: 'Why the operation failed. For a queued operation, why its last attempt failed',
        examples: [null],
      }),
    ),
    pausedAt: nullable(
      Type.String({
        ...Timestamp,
        description: 'When a person paused the operation. Null if it is not paused, or has ended',
        examples: [null],
      }),
    ),
    createdAt: Timestamp,
    startedAt: nullable(Timestamp),
    finishedAt: nullable(Timestamp),
  },
  { title: 'Operation' },
)

/** The name of an operation's site, and the person who requested it. */
export interface OperationNames {
  readonly siteName: string | null
  readonly accountEmail: string | null
}

const time = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/**
 * The Operation object of the API.
 * @param results of its sites, for an operation on many sites
 * @param actions if they are known
 * @param names in lists
 */
export function presentOperation(
  view: OperationView,
  {
    results = [],
    actions,
    names,
  }: {
    readonly results?: readonly Required<SiteResult>[]
    readonly actions?: readonly OperationAction[] | undefined
    readonly names?: OperationNames | undefined
  } = {},
): Type.Static<typeof OperationSchema> {
  return {
    id: view.id,
    type: view.type,
    siteId: view.siteId,
    ...names,
    state: view.state,
    progress: view.progress,
    steps: view.steps.map((step) => ({
      name: step.name,
      state: step.state,
      startedAt: time(step.startedAt),
      finishedAt: time(step.finishedAt),
      error: step.error,
      warning: step.warning,
      bytes: step.bytes,
      secondsLeft: step.secondsLeft,
    })),
    ...(results.length > 0 && {
      results: results.map(({ followUpId, ...result }) => ({ ...result, operationId: followUpId })),
    }),
    ...(actions && { actions: [...actions] }),
    attempts: view.attempts,
    error: view.error,
    pausedAt: time(view.pausedAt),
    createdAt: timestamp(view.createdAt),
    startedAt: time(view.startedAt),
    finishedAt: time(view.finishedAt),
  }
}

/** An account sees its own operations, and those of sites that it collaborates on. */
export function visibleTo(accountId: number): Visible {
  return ({ or, eb, selectFrom }) =>
    or([
      eb('operations.account_id', '=', accountId),
      eb('operations.site_id', 'in', selectFrom('collaborators').select('site_id').where('account_id', '=', accountId)),
    ])
}
