const LOCAL_PART = /^[^\s\p{Cc}\p{Z}<>()[\]\\,;:"@]+$/u
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?$/u

/** Returns whether a text is one mailbox, without anything that could end or extend a header of a mail. */
export const isOneMailbox = (text: string): boolean =>
  text.length <= 254 && /^[^\s\p{Cc}\p{Z}<>()[\]\\,;:"@]{1,64}@[^\s\p{Cc}\p{Z}<>()[\]\\,;:"@]+$/u.test(text)

/**
 * Returns whether an address can belong to a person. It is a mailbox within RFC 5321's lengths (§4.5.3.1: 64 bytes
 * before the `@`, 255 after it, 254 in total), without dots where RFC 5322 allows none, in a domain with a dot
 * (`localhost` excepted).
 */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || bytes(text) > 254 || bytes(local) > 64 || bytes(domain) > 255) return false
  if (!LOCAL_PART.test(local) || /^\.|\.\.|\.$/.test(local)) return false
  const labels = domain.split('.')
  const isNamed = labels.length > 1 || domain.toLowerCase() === 'localhost'
  return isNamed && labels.every((label) => bytes(label) <= 63 && LABEL.test(label))
}

const bytes = (text: string): number => Buffer.byteLength(text)
