import { api, ask } from '../../api.ts'
import { Card } from '../../parts/card.tsx'
import { PolicyForm } from '../../parts/policy-form.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { updatePolicyTexts as texts } from '../../texts/update-policy.ts'

const modes = ['off', 'security', 'weekly', 'daily'] as const

/** When the sites of the account are updated safely without a click. */
export function DefaultUpdatePolicy() {
  const policy = useLoad(() => ask(() => api.GET('/v1/account/update-policy')))
  const known = policy.got.value?.data
  if (!known) return policy.fault.value ? <p class="fault">{policy.fault.value}</p> : null
  return (
    <Card title={texts.defaultTitle}>
      <p class="quiet small">{texts.defaultIs}</p>
      <PolicyForm
        key={JSON.stringify(known)}
        policy={known}
        modes={modes}
        of="setDefaultUpdatePolicy"
        save={async (body) => {
          await ask(() => api.PUT('/v1/account/update-policy', { body }))
          await policy.reload()
        }}
      />
    </Card>
  )
}
