import { askFirst, type Question } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import type { Right } from '../parts/rights.tsx'
import { attempt, told } from '../parts/toasts.tsx'

interface Way {
  readonly of: Right
  readonly name: string
  /** Said afterwards. */
  readonly did: string
  go(): Promise<unknown>
}

interface PlatformSwitchProps {
  /** The account or host, by name. */
  readonly about: string
  readonly isOn: boolean
  /** Before it is turned on. */
  readonly question: Omit<Question, 'button' | 'go'>
  readonly on: Way
  readonly off: Way
  /** Loads what is shown again. */
  onChange(): unknown
}

/** Turns something on after a question, with an undo afterwards, or off at once. */
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
