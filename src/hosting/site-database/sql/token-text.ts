import type { Token } from './sql-tokens.ts'

/** Returns the text of an expression, which does not depend on its original spacing. */
export function expressionText(tokens: readonly Token[]): string {
  let text = ''
  for (const [place, token] of tokens.entries()) {
    const before = tokens[place - 1]
    const isTight =
      before === undefined ||
      (token.kind === 'mark' && '(),.'.includes(token.text) && (token.text !== '(' || before.kind === 'word')) ||
      (before.kind === 'mark' && '(.'.includes(before.text)) ||
      (token.kind === 'mark' &&
        before.kind === 'mark' &&
        '<>=!|&'.includes(before.text) &&
        '<>=|&'.includes(token.text))
    text += (isTight ? '' : ' ') + tokenText(token)
  }
  return text
}

function tokenText(token: Token): string {
  if (token.kind === 'name') return `\`${token.text.replaceAll('`', '``')}\``
  if (token.kind === 'string') return quoted(Buffer.from(token.bytes).toString('utf8'))
  if (token.kind === 'bits') return `0x${Buffer.from(token.bytes).toString('hex')}`
  return token.text
}

/** Quotes as the plugin's `quote_mysql_utf8_string_literal` does. */
export const quoted = (text: string): string =>
  `'${text.replace(/['\\\0\n\r]/g, (found) => ({ "'": "''", '\\': '\\\\', '\0': '\\0', '\n': '\\n', '\r': '\\r' })[found] as string)}'`
