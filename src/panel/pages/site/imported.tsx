import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { importsTexts as texts } from '../../texts/site/imports.ts'
import type { Import, PartProps } from './part.ts'

/** The result of an import: a comparison with the old site, the remaining steps, and the undo. */
export function Imported({ act, done }: PartProps & { readonly done: Import }) {
  const { operationId, plan, comparison, checklist } = done
  const operation = useLoad(
    () => ask(() => api.GET('/v1/operations/{id}', { params: { path: { id: operationId as number } } })),
    [operationId],
  )
  const undo = operation.got.value?.data.actions?.find(({ action }) => action === 'undo')
  const takeBack = askFirst({
    title: texts.undo,
    text: texts.undoIs,
    button: texts.undo,
    async go() {
      const params = { path: { id: operationId as number } }
      const { data } = await ask(() => api.POST('/v1/operations/{id}/undo', { params }))
      act(texts.undone, async () => ({ data, operationId: data.id }))()
    },
  })
  return (
    <>
      <section class="sheet">
        <div class="row spread">
          <h2>{texts.done}</h2>
          {undo && (
            <Button isBad refusal={undo.reason} onClick={takeBack}>
              {texts.undo}
            </Button>
          )}
        </div>
        <p>{texts.doneIs(plan?.from.home ?? '')}</p>
        {checklist.length > 0 && (
          <>
            <h3>{texts.checklist}</h3>
            <ol>
              {checklist.map(({ title, text }) => (
                <li key={title}>
                  <strong>{title}.</strong> {text}
                </li>
              ))}
            </ol>
          </>
        )}
      </section>
      {comparison && comparison.length > 0 && (
        <section class="sheet">
          <h2>{texts.comparison}</h2>
          <List
            from={{ got: { value: { data: comparison } }, fault: { value: '' } }}
            caption={texts.comparison}
            head={texts.comparisonHead}
            empty=""
            row={(page) => [
              <code>{page.path}</code>,
              page.old ? texts.comparedPage(page.old.status, page.old.title) : texts.noAnswer,
              texts.comparedPage(page.new.status, page.new.title),
              page.sameText === null ? '' : texts.percent(page.sameText),
              page.differentPicture === null ? '' : texts.percent(page.differentPicture),
            ]}
          />
          {[...new Set(comparison.map(({ noPicture }) => noPicture))].map(
            (reason) => reason && <p key={reason}>{texts.noPicture(reason)}</p>,
          )}
        </section>
      )}
    </>
  )
}
