import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { components } from '../../sdk/api.generated.ts'
import { updatePolicyTexts as texts } from '../texts/update-policy.ts'
import { Form } from './form.tsx'
import type { Right } from './rights.tsx'
import { Select } from './select.tsx'
import { told } from './toasts.tsx'

type Policy = components['schemas']['UpdatePolicy']
type EffectivePolicy = components['schemas']['EffectiveUpdatePolicy']
type Mode = Policy['mode']
/** The fields of a policy, with one of some modes. */
type PolicyWith<Shown extends Mode> = Omit<EffectivePolicy, 'mode'> & { readonly mode: Shown }

const hours = Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, hourOf(hour)]))

function hourOf(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`
}

/** Describes a policy in one line. */
export function policyLine({ mode, weekday, hour, time_zone: zone }: EffectivePolicy): string {
  if (mode === 'off') return texts.modes.off
  const day = mode === 'weekly' ? texts.weekdays[weekday] : undefined
  return texts.at(texts.modes[mode], day, hourOf(hour), zone)
}

/** Sets an update policy. A person who chooses one for the first time gets their own time zone. */
export function PolicyForm<Shown extends Mode>(props: {
  readonly policy: PolicyWith<Shown> & Pick<Policy, 'has_feed'>
  readonly modes: readonly Shown[]
  readonly of: Right
  save(body: PolicyWith<Shown>): Promise<unknown>
}) {
  const { policy } = props
  const hasTimes = (each: Mode) => each !== 'off' && each !== 'inherit'
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const mode = useSignal<Shown>(policy.mode)
  const weekday = useSignal(policy.weekday)
  const hour = useSignal(String(policy.hour))
  const zone = useSignal(hasTimes(policy.mode) ? policy.time_zone : own)
  const id = useId()
  const names = Object.fromEntries(props.modes.map((each) => [each, texts.modes[each]])) as Record<Shown, string>
  const zones = Object.fromEntries([policy.time_zone, own, 'UTC'].map((each) => [each, each]))
  return (
    <Form
      of={props.of}
      fields={[]}
      button={texts.save}
      isForgotten
      submit={async ({ exclude }) => {
        await props.save({
          ...{ mode: mode.value, weekday: weekday.value, hour: Number(hour.value), time_zone: zone.value },
          exclude: exclude === undefined ? policy.exclude : exclude.split(/[\s,]+/).filter((each) => each !== ''),
        })
        told(texts.saved)
      }}
    >
      <Select label={texts.mode} options={names} value={mode.value} set={(to) => (mode.value = to)} />
      <p class="quiet small">
        {texts.is[mode.value]} {mode.value === 'security' && !policy.has_feed && <b>{texts.noFeed}</b>}
      </p>
      {mode.value === 'weekly' && (
        <Select
          label={texts.weekday}
          options={texts.weekdays}
          value={weekday.value}
          set={(to) => (weekday.value = to)}
        />
      )}
      {hasTimes(mode.value) && (
        <>
          <Select label={texts.hour} options={hours} value={hour.value} set={(to) => (hour.value = to)} />
          <Select label={texts.zone} options={zones} value={zone.value} set={(to) => (zone.value = to)} />
        </>
      )}
      {mode.value !== 'off' && (
        <p class="field">
          <label htmlFor={id}>{texts.exclude}</label>
          <input
            type="text"
            name="exclude"
            id={id}
            autocomplete="off"
            defaultValue={policy.exclude.join(', ')}
            aria-describedby={`${id}-is`}
          />
          <span id={`${id}-is`} class="quiet small">
            {texts.excludeIs}
          </span>
        </p>
      )}
    </Form>
  )
}
