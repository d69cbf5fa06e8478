#!/bin/bash
exec "$(dirname "$0")/supported.sh" all
