import { type Following, follow, type Told } from './follow.ts'

/** Shares one connection among all tabs, because a browser allows six to an address. */
const ports = new Set<MessagePort>()
let following: Following | undefined
let state: Told = 'live'

function tell(told: Told): void {
  if (told !== 'changed') state = told
  for (const port of ports) port.postMessage(told)
}

function leave(port: MessagePort): void {
  ports.delete(port)
  if (ports.size > 0) return
  following?.end()
  following = undefined
}

addEventListener('connect', (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : []
  if (!port) return
  ports.add(port)
  port.onmessage = ({ data }) => {
    if (data === 'leave') leave(port)
    else if (following) following.again()
  }
  if (following) port.postMessage(state)
  else following = follow(tell)
})
