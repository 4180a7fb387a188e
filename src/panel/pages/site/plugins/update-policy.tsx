import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Card } from '../../../parts/card.tsx'
import { PolicyForm, policyLine } from '../../../parts/policy-form.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { updatePolicyTexts as texts } from '../../../texts/update-policy.ts'
import { timeOf } from '../../../time.ts'

const modes = ['inherit', 'off', 'security', 'weekly', 'daily'] as const

type Undone = components['schemas']['UndoneUpdate']

const namesOf = (undone: readonly Undone[], areRetried: boolean): string =>
  undone
    .filter(({ is_retried: isRetried }) => isRetried === areRetried)
    .map(({ name, version }) => `${name} ${version}`)
    .join(', ')

/** When the site is updated safely without a click. People without the right see the current policy. */
export function UpdatePolicy({ id }: { readonly id: number }) {
  const params = { path: { id } }
  const policy = useLoad(() => ask(() => api.GET('/v1/sites/{id}/update-policy', { params })), [id])
  const known = policy.got.value?.data
  if (!known) return policy.fault.value ? <p class="fault">{policy.fault.value}</p> : null
  const { effective, next_at: next, undone, ...own } = known
  return (
    <Card title={texts.title}>
      <p>
        {texts.effective(policyLine(effective))} {next !== null && texts.next(timeOf(next))}
      </p>
      {undone.some(({ is_retried: isRetried }) => isRetried) && (
        <p class="quiet">{texts.retried(namesOf(undone, true))}</p>
      )}
      {undone.some(({ is_retried: isRetried }) => !isRetried) && (
        <p class="quiet">{texts.undone(namesOf(undone, false))}</p>
      )}
      <PolicyForm
        key={JSON.stringify(own)}
        policy={own}
        modes={modes}
        of="setUpdatePolicy"
        save={async (body) => {
          await ask(() => api.PUT('/v1/sites/{id}/update-policy', { params, body }))
          await policy.reload()
        }}
      />
    </Card>
  )
}
