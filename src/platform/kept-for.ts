/** Asks once for all simultaneous callers, and again only after a while. A failure is not kept. */
export function keptFor<Value>(ms: number, ask: () => Promise<Value>): () => Promise<Value> {
  let kept: { readonly answer: Promise<Value>; answeredAt: number | undefined } | undefined
  return () => {
    if (kept && (kept.answeredAt === undefined || performance.now() - kept.answeredAt < ms)) return kept.answer
    const asked: NonNullable<typeof kept> = { answer: ask(), answeredAt: undefined }
    kept = asked
    asked.answer.then(
      () => {
        asked.answeredAt = performance.now()
      },
      () => {
        if (kept === asked) kept = undefined
      },
    )
    return asked.answer
  }
}
