import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Step, Steps } from '../../parts/steps.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { person } from '../../session.ts'
import { firstStepsTexts as texts } from '../../texts/first-steps.ts'
import { firstSteps } from './first-steps-wish.ts'

interface Known {
  readonly id: number
  readonly domainsCount: number
}

/** The steps from a first password to a site that visitors find. The account's state shows which are done. */
export function FirstSteps({ sites, create }: { readonly sites: readonly Known[]; create(): void }) {
  const { operator = false, totp = false, passkeys = 0 } = person.value ?? {}
  const installation = useLoad(() => ask(() => api.GET('/v1/installation')))
  const people = useLoad(() => ask(() => api.GET('/v1/collaborators')))
  const [first] = sites
  const all = [
    { ...texts.secure, isDone: totp || passkeys > 0, to: '#/account/you' },
    { ...texts.site, isDone: first !== undefined, go: create },
    {
      ...texts.domain,
      isDone: sites.some(({ domainsCount }) => domainsCount > 0),
      to: first && `#/sites/${first.id}/domains`,
    },
    ...(operator
      ? [{ ...texts.backups, isDone: installation.got.value?.data.backups_elsewhere === true, to: '#/platform' }]
      : []),
    { ...texts.people, isDone: (people.got.value?.data.length ?? 0) > 0, to: '#/account/collaborators' },
  ]
  const next = all.find(({ isDone }) => !isDone)
  return (
    <Card
      title={next ? texts.title : texts.allDone}
      actions={
        <Button
          isGhost
          isSmall
          onClick={() => {
            firstSteps.value = 'hidden'
          }}
        >
          {texts.hide}
        </Button>
      }
    >
      <Steps label={texts.title}>
        {all.map((step) => (
          <Step key={step.title} state={step.isDone ? 'done' : step === next ? 'now' : 'todo'} title={step.title}>
            {!step.isDone && (
              <>
                {step === next && <p class="quiet">{step.text}</p>}
                <p>
                  <Go step={step} isNext={step === next} />
                </p>
              </>
            )}
          </Step>
        ))}
      </Steps>
    </Card>
  )
}

interface Offer {
  readonly action: string
  readonly to?: string | undefined
  go?(): void
}

function Go({ step: { action, to, go }, isNext }: { readonly step: Offer; readonly isNext: boolean }) {
  if (go)
    return (
      <Button isSmall isMain={isNext} onClick={go}>
        {action}
      </Button>
    )
  return to === undefined ? null : (
    <a class={`button sm ${isNext ? 'main' : ''}`} href={to}>
      {action}
    </a>
  )
}
