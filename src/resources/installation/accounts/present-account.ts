import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import { planNamed } from '../../account/public.ts'
import type { AccountUsage } from '../accounts.store.ts'

const Removal = Type.Object(
  {
    state: oneOf(['waiting', 'removing', 'failed'], {
      description: '`waiting`: you can cancel it. `failed`: retry its operation',
      examples: ['waiting'],
    }),
    requested_at: Timestamp,
    due_at: Type.String({
      description: 'When the deletion begins. Until then you can cancel the removal',
      examples: ['2026-08-08T09:30:00.000Z'],
    }),
    operation_id: Type.Integer({ description: 'Operation that removes the account', examples: [1234] }),
  },
  { title: 'AccountRemoval' },
)

export const AccountOfInstallation = Type.Object(
  {
    id: Type.Integer({ examples: [1] }),
    email: Type.String({ examples: ['customer@example.com'] }),
    name: Type.String({ examples: ['Jo Doe'] }),
    plan: Type.String({ examples: ['Business'] }),
    operator: Type.Boolean({ description: 'Whether the account operates the installation' }),
    sites: Type.Integer({ description: 'Number of its sites, without those in the trash', examples: [3] }),
    max_sites: Type.Integer({ description: 'Number of live and staging sites that its plan allows', examples: [7] }),
    created_at: Timestamp,
    suspended_at: nullable(
      Type.String({ description: 'When the operator suspended it. Null if it is not suspended', examples: [null] }),
    ),
    removal: nullable(Removal),
  },
  { title: 'AccountOfInstallation' },
)

export function presentAccount(account: AccountUsage): Type.Static<typeof AccountOfInstallation> {
  const { id, email, name, plan, isFirst, sites, createdAt, suspendedAt, removal } = account
  const { maxBillable, maxStaging } = planNamed(plan)
  return {
    ...{ id, email, name, plan, operator: isFirst, sites, max_sites: maxBillable + maxStaging },
    created_at: timestamp(createdAt),
    suspended_at: suspendedAt === null ? null : timestamp(suspendedAt),
    removal: removal && {
      state: removal.state,
      requested_at: timestamp(removal.askedAt),
      due_at: timestamp(removal.dueAt),
      operation_id: removal.operationId,
    },
  }
}
