import { api, ask } from '../api.ts'
import { operationTitle } from '../texts/operation-names.ts'
import { operationsTexts as texts } from '../texts/operations.ts'
import { Button } from './button.tsx'
import { attempt, told } from './toasts.tsx'
import type { Operation } from './work.ts'

/** The buttons for what can be done with an operation: cancel, retry, undo, pause, continue. */
export function OperationActions(props: { readonly of: Operation; onChange(): Promise<void> }) {
  const { id, actions } = props.of
  const title = operationTitle(props.of)
  const act = (verb: 'cancel' | 'retry' | 'undo' | 'pause' | 'continue') =>
    attempt(async () => {
      await ask(() => api.POST(`/v1/operations/{id}/${verb}`, { params: { path: { id } } }))
      told(texts.said[verb])
      await props.onChange()
    })
  return (
    <span class="row">
      {actions?.map(({ action, reason }) => (
        <Button
          key={action}
          isSmall
          label={texts.actionOf(texts.actions[action], title)}
          refusal={reason}
          onClick={act(action)}
        >
          {texts.actions[action]}
        </Button>
      ))}
    </span>
  )
}
