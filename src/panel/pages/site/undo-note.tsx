import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Callout } from '../../parts/callout.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { undoTexts as texts } from '../../texts/site/undo.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Kind = keyof typeof texts.undo

/** The newest change of these types that can still be undone, with its undo button. */
export function UndoNote({ site, id, act, of }: PartProps & { readonly of: readonly Kind[] }) {
  const last = useLoad(async () => {
    const lists = await Promise.all(
      of.map((type) => ask(() => api.GET('/v1/operations', { params: { query: { site_id: id, type, per_page: 1 } } }))),
    )
    const newest = lists.flatMap(({ data }) => data).toSorted((a, b) => b.id - a.id)
    return { data: newest[0] }
  }, [id])
  const operation = last.got.value?.data
  const kind = of.find((each) => each === operation?.type)
  const undo = operation?.actions?.find(({ action }) => action === 'undo')
  if (!operation || !kind || !undo) return null
  return (
    <Callout>
      <span class="row spread">
        <span>
          <b>{texts.at(texts.done[kind], timeOf(operation.finishedAt))}</b> {texts.kept}
        </span>
        <Button
          isSmall
          icon="undo2"
          of="restoreSite"
          refusal={undo.reason}
          onClick={askFirst({
            title: texts.undo[kind],
            text: texts.all(texts.is[kind], texts.again),
            button: texts.undo[kind],
            name: site.name,
            async go() {
              const params = { path: { id: operation.id } }
              const got = await ask(() => api.POST('/v1/operations/{id}/undo', { params }))
              act(texts.undo[kind], async () => got)()
            },
          })}
        >
          {texts.undo[kind]}
        </Button>
      </span>
    </Callout>
  )
}
