import type { RequestHead, TaskHead } from './frames.ts'

/**
 * Turns a task into a request for the site that runs Stead's own PHP file. WordPress sees the host name that it
 * expects, and `run-task.php` sets up the rest of the request. The task's input is the body. Its result is printed
 * between two markers.
 */
export function taskAsRequest(task: TaskHead, address: string): { head: RequestHead; body: Buffer } {
  const { name, input, marker, isSafe = false } = task
  const body = Buffer.from(JSON.stringify({ task: name, input, marker, isSafe }))
  return {
    body,
    head: {
      method: 'POST',
      path: '/',
      script: '/stead/run-task.php',
      headers: ['host', address, 'content-type', 'application/json', 'user-agent', 'Stead'],
      remoteAddress: '127.0.0.1',
      https: false,
      host: address,
      bodyBytes: body.length,
    },
  }
}
