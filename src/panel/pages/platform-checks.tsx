import { useSignal } from '@preact/signals'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { useLoad } from '../parts/use-load.ts'
import { commonTexts } from '../texts/common.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { timeOf } from '../time.ts'

type Check = components['schemas']['InstallationCheck']

const classes = { ok: 'succeeded', warning: 'maintenance', problem: 'failed', skipped: 'quiet' } as const

/**
 * The results of `stead doctor` on the machine of the API. Checks take seconds, so they run when the page opens and on
 * request.
 */
export const Checks = () => {
  const checked = useLoad(() => ask(() => api.GET('/v1/installation/checks')))
  const isChecking = useSignal(false)
  const again = async () => {
    isChecking.value = true
    await checked.reload()
    isChecking.value = false
  }
  const known = checked.got.value?.data
  const found = known?.checks ?? []
  const wrong = found.filter(({ state }) => state === 'problem' || state === 'warning')
  const others = found.filter((each) => !wrong.includes(each))
  return (
    <Card
      title={texts.checks}
      class="s8"
      actions={
        <Button isSmall isDisabled={isChecking.value} onClick={() => void again()}>
          {texts.checkAgain}
        </Button>
      }
    >
      {checked.fault.value && <p class="fault">{checked.fault.value}</p>}
      {!known && !checked.fault.value && <p class="quiet">{commonTexts.reading}</p>}
      {known && wrong.length === 0 && <p>{texts.noneWrong}</p>}
      {wrong.length > 0 && <Findings of={wrong} />}
      {others.length > 0 && (
        <details>
          <summary>{texts.otherChecks(others.length)}</summary>
          <Findings of={others} />
        </details>
      )}
      {known?.checked_at && <p class="quiet small">{texts.checkedAt(timeOf(known.checked_at))}</p>}
    </Card>
  )
}

/** A list, because a phone has no room for three columns of sentences. */
const Findings = ({ of: found }: { readonly of: readonly Check[] }) => (
  <ul class="findings">
    {found.map(({ area, state, text, remedy }) => (
      <li key={`${area} ${text}`}>
        <span class="row">
          <span class={`state ${classes[state]}`}>{texts.checkStates[state]}</span> <b>{texts.areas[area]}</b>
        </span>
        <div>{text}</div>
        {remedy && <div class="quiet">{remedy}</div>}
      </li>
    ))}
  </ul>
)
