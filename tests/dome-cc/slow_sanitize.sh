#!/bin/bash
exec "$(dirname "$0")/sanitize.sh" all
