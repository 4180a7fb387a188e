import { askFirst, type Question } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import type { Right } from '../parts/rights.tsx'
import { attempt, told } from '../parts/toasts.tsx'

interface Way {
  readonly of: Right
  readonly name: string
  /** The message afterwards. */
  readonly did: string
  go(): Promise<unknown>
}

interface PlatformSwitchProps {
  /** The name of the account or host. */
  readonly about: string
  readonly isOn: boolean
  /** The question before it is turned on. */
  readonly question: Omit<Question, 'button' | 'go'>
  readonly on: Way
  readonly off: Way
  /** Reloads the page's data. */
  onChange(): unknown
}

/** A switch that asks before it turns something on, offers an undo afterwards, and turns it off at once. */
export function PlatformSwitch({ about, isOn, question, on, off, onChange }: PlatformSwitchProps) {
  const turnOff = attempt(async () => {
    await off.go()
    await onChange()
    told(off.did)
  })
  const turnOn = async () => {
    await on.go()
    await onChange()
    told(on.did, turnOff)
  }
  const way = isOn ? off : on
  return (
    <Button
      isSmall
      of={way.of}
      label={`${way.name}: ${about}`}
      onClick={isOn ? turnOff : askFirst({ ...question, button: on.name, go: turnOn })}
    >
      {way.name}
    </Button>
  )
}
