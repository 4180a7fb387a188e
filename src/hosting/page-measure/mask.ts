/**
 * A selector of elements that pictures hide. The browser decides whether it is one. What it must not contain could end
 * the rule that hides it, or begin another.
 */
export const MASK_PATTERN = '^(?!.*/\\*)[^\\x00-\\x1f\\x7f{}<@]+$'
export const MASK_LENGTH = 200

const allowed = new RegExp(MASK_PATTERN, 'u')

export const isMask = (selector: string): boolean => selector.length <= MASK_LENGTH && allowed.test(selector)
