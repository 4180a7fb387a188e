type Text = Uint8Array | Int32Array

/**
 * Returns the starts of all suffixes in sorted order, in linear time and memory for any text. The algorithm is SA-IS
 * (Nong, Zhang, Chan: Two Efficient Algorithms for Linear Time Suffix Array Construction, 2011).
 * @param largest the largest value in the text
 */
export function suffixArray(text: Text, largest: number): Int32Array {
  const { length } = text
  if (length < 2) return new Int32Array(length)
  const isSmaller = typesOf(text)
  const buckets = bucketsOf(text, isSmaller, largest)
  const ordinals = new Int32Array(length).fill(-1)
  const starts = new Int32Array(length >> 1)
  let count = 0
  for (let at = 1; at < length; at++)
    if (isSmaller[at] && !isSmaller[at - 1]) {
      ordinals[at] = count
      starts[count++] = at
    }
  const leftmost = starts.subarray(0, count)
  const order = new Int32Array(length)
  induce(order, text, isSmaller, buckets, leftmost)
  if (count === 0) return order
  const sorted = new Int32Array(count)
  let found = 0
  for (let rank = 0; rank < length; rank++) {
    const at = order[rank]!
    if (ordinals[at]! >= 0) sorted[found++] = at
  }
  const { names, largestName } = nameThem(text, sorted, leftmost, ordinals)
  const rest = suffixArray(names, largestName)
  for (let rank = 0; rank < count; rank++) sorted[rank] = leftmost[rest[rank]!]!
  induce(order, text, isSmaller, buckets, sorted)
  return order
}

/** Returns for each suffix whether it comes before the suffix that begins one place later. */
function typesOf(text: Text): Uint8Array {
  const types = new Uint8Array(text.length)
  for (let at = text.length - 2; at >= 0; at--) {
    const one = text[at]!
    const next = text[at + 1]!
    types[at] = one === next ? types[at + 1]! : one < next ? 1 : 0
  }
  return types
}

/**
 * The places of the suffixes by first value. Those that are larger than their successor come first, from `larger` on,
 * then the others.
 */
interface Buckets {
  readonly larger: Int32Array
  readonly smaller: Int32Array
}

function bucketsOf(text: Text, isSmaller: Uint8Array, largest: number): Buckets {
  const larger = new Int32Array(largest + 2)
  const smaller = new Int32Array(largest + 1)
  for (let at = 0; at < text.length; at++)
    if (isSmaller[at]) larger[text[at]! + 1]!++
    else smaller[text[at]!]!++
  for (let value = 0; value <= largest; value++) {
    smaller[value]! += larger[value]!
    larger[value + 1]! += smaller[value]!
  }
  return { larger, smaller }
}

/** Sorts all suffixes based on those that begin a rise, in the given order of these. */
function induce(order: Int32Array, text: Text, isSmaller: Uint8Array, buckets: Buckets, leftmost: Int32Array): void {
  const { length } = text
  order.fill(-1)
  let next = buckets.smaller.slice()
  for (const at of leftmost) order[next[text[at]!]!++] = at
  next = buckets.larger.slice()
  order[next[text[length - 1]!]!++] = length - 1
  for (let rank = 0; rank < length; rank++) {
    const before = order[rank]! - 1
    if (before >= 0 && !isSmaller[before]) order[next[text[before]!]!++] = before
  }
  next = buckets.larger.slice()
  for (let rank = length - 1; rank >= 0; rank--) {
    const before = order[rank]! - 1
    if (before >= 0 && isSmaller[before]) order[--next[text[before]! + 1]!] = before
  }
}

/**
 * Returns a shorter text, in which the rank of each piece between such starts is its name. Its suffixes have the order
 * of those starts.
 */
function nameThem(text: Text, sorted: Int32Array, leftmost: Int32Array, ordinals: Int32Array) {
  const names = new Int32Array(sorted.length)
  let largestName = 0
  for (let rank = 1; rank < sorted.length; rank++) {
    if (!isSamePiece(text, sorted[rank - 1]!, sorted[rank]!, leftmost, ordinals)) largestName++
    names[ordinals[sorted[rank]!]!] = largestName
  }
  return { names, largestName }
}

function isSamePiece(text: Text, one: number, other: number, leftmost: Int32Array, ordinals: Int32Array): boolean {
  const end = (at: number) => leftmost[ordinals[at]! + 1] ?? text.length
  const length = end(one) - one
  if (end(other) - other !== length || Math.max(one, other) + length >= text.length) return false
  for (let index = 0; index <= length; index++) if (text[one + index] !== text[other + index]) return false
  return true
}
