import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { List } from '../parts/list.tsx'
import { useLoad } from '../parts/use-load.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { timeOf } from '../time.ts'

const classes = { ok: 'succeeded', warning: 'running', problem: 'failed', skipped: 'quiet' } as const

/** What `stead doctor` finds on the machine of the API. Checks take seconds: they run when the page opens, and when someone asks. */
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
  const fault = { value: checked.fault.value }
  return (
    <section class="sheet">
      <h2>{texts.checks}</h2>
      <List
        from={{ got: { value: known && { data: wrong } }, fault }}
        caption={texts.checks}
        head={texts.checksHead}
        empty={texts.noneWrong}
        row={({ area, state, text, remedy }) => [
          texts.areas[area],
          <span class={`state ${classes[state]}`}>{texts.checkStates[state]}</span>,
          <>
            {text}
            {remedy && <p class="quiet">{remedy}</p>}
          </>,
        ]}
      />
      {found.length > wrong.length && (
        <details>
          <summary>{texts.inOrder(found.length - wrong.length)}</summary>
          <List
            from={{ got: { value: { data: found.filter((each) => !wrong.includes(each)) } }, fault: { value: '' } }}
            caption={texts.inOrder(found.length - wrong.length)}
            head={texts.checksHead}
            empty={texts.none}
            row={({ area, state, text }) => [
              texts.areas[area],
              <span class={classes[state]}>{texts.checkStates[state]}</span>,
              text,
            ]}
          />
        </details>
      )}
      <p class="row">
        <Button isDisabled={isChecking.value} onClick={() => void again()}>
          {texts.checkAgain}
        </Button>
        {known?.checked_at && <span class="quiet">{texts.checkedAt(timeOf(known.checked_at))}</span>}
      </p>
    </section>
  )
}
