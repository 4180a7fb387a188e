import type { ComponentChildren } from 'preact'
import { type Block, type Inline, inlinesOf, markdownOf } from './markdown.ts'

/** Renders Markdown that a person wrote: only elements, never HTML from the text. */
export const Written = ({ text }: { readonly text: string }) => (
  <div class="prose">
    {markdownOf(text).map((block, at) => (
      <BlockOf key={at} {...block} />
    ))}
  </div>
)

/** Renders one line of it. */
export const WrittenLine = ({ text }: { readonly text: string }) => <Inlines of={inlinesOf(text)} />

function BlockOf(block: Block) {
  if (block.kind === 'rule') return <hr />
  if (block.kind === 'code')
    return (
      <pre>
        <code>{block.text}</code>
      </pre>
    )
  if (block.kind === 'list') {
    const items = block.items.map((item, at) => (
      <li key={at}>
        <Inlines of={item} />
      </li>
    ))
    return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>
  }
  const lines = block.lines.map((line, at) => (
    <span key={at} class="line">
      <Inlines of={line} />
    </span>
  ))
  if (block.kind === 'heading') return <h3>{lines}</h3>
  return block.kind === 'quote' ? <blockquote>{lines}</blockquote> : <p>{lines}</p>
}

const Inlines = ({ of }: { readonly of: readonly Inline[] }): ComponentChildren =>
  of.map((part, at) => {
    if (typeof part === 'string') return part
    if (part.kind === 'code') return <code key={at}>{part.text}</code>
    const inner = <Inlines of={part.parts} />
    if (part.kind === 'link')
      return (
        <a key={at} href={part.to} target="_blank" rel="noreferrer noopener">
          {inner}
        </a>
      )
    return part.kind === 'strong' ? <strong key={at}>{inner}</strong> : <em key={at}>{inner}</em>
  })
